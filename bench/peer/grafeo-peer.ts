// Grafeo inside this process (@grafeo-db/js): a graph database with calls by id and with GQL.
// Invariant: its writes return before they are on the disk (it syncs its log now and then), so its times of
// writes are marked, and compare with no durable write.
import { loadPeers } from './peer-install.js';

interface GrafeoNode {
  id: number;
  properties(): Record<string, unknown>;
}

interface GrafeoResult {
  toArray(): Record<string, unknown>[];
}

export interface Grafeo {
  createNode(labels: string[], properties: object): GrafeoNode;
  createEdge(from: number, to: number, type: string, properties?: object): unknown;
  getNode(id: number): GrafeoNode | null;
  /** Pairs of a neighbor and an edge. */
  getNodeEdges(id: number, options: { direction: string; edgeTypes: string[] }): number[][];
  setNodeProperty(id: number, key: string, value: unknown): void;
  detachDeleteNode(id: number): boolean;
  execute(text: string, args?: object): Promise<GrafeoResult>;
  close(): void;
}

interface GrafeoModule {
  GrafeoDB: { create(path: string): Grafeo };
}

/** Opens a database in a folder; undefined, with a printed reason, when it cannot be had here. */
export async function openGrafeo(path: string): Promise<Grafeo | undefined> {
  const loaded = (await loadPeers(['@grafeo-db/js@0.6.0'])).get('@grafeo-db/js');
  if (loaded === undefined) return undefined;
  return (loaded as { default: GrafeoModule }).default.GrafeoDB.create(path);
}
