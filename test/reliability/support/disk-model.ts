// A model of a disk after a power cut. It follows recorded calls, and separates what is certainly on the disk
// from what may be. Uncertain are writes and sizes of a file until it is synced, and names in a folder until
// the folder is synced. These can reach the disk in any order, and a write can arrive in pieces.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Random } from '../../support/random.js';
import type { IoRecord } from './recorder.js';

/** A change that is not yet certain; `seq` is its place among all records. */
type Change =
  | { seq: number; kind: 'write'; at: number; bytes: Buffer }
  | { seq: number; kind: 'resize'; size: number };

interface FileNode {
  kind: 'file';
  content: Buffer;
  pending: Change[];
}

interface FolderNode {
  kind: 'folder';
  names: Map<string, Node>;
  /** Each entry happens as a whole: a rename takes one name and gives the other. */
  pending: { seq: number; names: Map<string, Node | undefined> }[];
}

type Node = FileNode | FolderNode;

/**
 * Files below a folder by path, with a checksum; without the file that LMDB creates again at each start.
 */
export function filesBelow(folder: string): Map<string, number> {
  const files = new Map<string, number>();
  for (const place of (readdirSync(folder, { recursive: true }) as string[]).sort()) {
    const path = join(folder, place);
    if (basename(place) === 'lock.mdb' || !statSync(path).isFile()) continue;
    files.set(place, crc32(readFileSync(path)));
  }
  return files;
}

/** How much of what is not certain an image has. */
export interface Style {
  name: 'nothing' | 'everything' | 'in order' | 'pages' | 'sectors' | 'one lost';
  /** Share of pieces that arrive. */
  share: number;
}

const pieceOf = { pages: 4096, sectors: 512 } as const;

export function randomStyle(random: Random): Style {
  const names = [
    'nothing',
    'in order',
    'pages',
    'pages',
    'sectors',
    'sectors',
    'one lost',
  ] as const;
  return {
    name: random.pick([...names, 'everything'] as const),
    share: random.pick([0.1, 0.5, 0.9]),
  };
}

const newFolder = (): FolderNode => ({ kind: 'folder', names: new Map(), pending: [] });
const newFile = (): FileNode => ({ kind: 'file', content: Buffer.alloc(0), pending: [] });

/** Returns a copy with its own memory, because `grown` writes after the end of its input. */
function copyOf(content: Buffer, size = content.length): Buffer {
  const copy = Buffer.alloc(size);
  content.copy(copy);
  return copy;
}

/** The content with zeros up to `size`; in the same memory where that reaches. */
function grown(content: Buffer, size: number): Buffer {
  if (content.buffer.byteLength < size) {
    return Buffer.from(copyOf(content, size * 2).buffer, 0, size);
  }
  return Buffer.from(content.buffer, 0, size);
}

function applied(content: Buffer, change: Change): Buffer {
  if (change.kind === 'resize') {
    const { size } = change;
    return size <= content.length ? copyOf(content.subarray(0, size)) : grown(content, size);
  }
  const end = change.at + change.bytes.length;
  const result = end > content.length ? grown(content, end) : content;
  change.bytes.copy(result, change.at);
  return result;
}

const changeOf = ({ kind, at, bytes }: IoRecord, seq: number): Change =>
  kind === 'write' ? { seq, kind, at, bytes } : { seq, kind: 'resize', size: at };

export class Disk {
  readonly #top = newFolder();
  readonly #byInode = new Map<number, Node>();
  /** Beginning of the synchronisation that a thread is in. */
  readonly #syncing = new Map<string, number>();
  #seq = 0;

  /** `folder` is certain, and empty when recording begins. */
  constructor(
    private readonly folder: string,
    inode: number,
  ) {
    this.#byInode.set(inode, this.#top);
  }

  /** Takes one record in. */
  apply(record: IoRecord): void {
    const seq = this.#seq++;
    const { kind, file, bytes } = record;
    if (kind === 'create' || kind === 'mkdir') {
      const node = kind === 'create' ? newFile() : newFolder();
      this.#byInode.set(file, node);
      this.#name(bytes.toString(), node, seq);
    }
    if (kind === 'unlink') this.#name(bytes.toString(), undefined, seq);
    if (kind === 'rename') this.#rename(bytes.toString(), record.to, seq);
    if (kind === 'write' || kind === 'resize') {
      const node = this.#file(file);
      const change = changeOf(record, seq);
      if (record.through) node.content = applied(node.content, change);
      else node.pending.push(change);
    }
    const thread = `${record.thread} ${file}`;
    if (kind === 'syncBegin') this.#syncing.set(thread, seq);
    if (kind === 'syncEnd') this.#sync(this.#byInode.get(file)!, this.#syncing.get(thread)!);
  }

  /** Does `work` as of the middle of a call: of a write, any part may have arrived. */
  during(record: IoRecord, work: () => void): void {
    if (record.kind !== 'write') return work();
    const { pending } = this.#file(record.file);
    pending.push(changeOf(record, this.#seq));
    work();
    pending.pop();
  }

  #file(inode: number): FileNode {
    const node = this.#byInode.get(inode);
    if (node?.kind !== 'file') throw new Error(`a write to an unknown file, inode ${inode}`);
    return node;
  }

  /** The names of a folder as programs see them. */
  #seen(folder: FolderNode): Map<string, Node> {
    return withNames(folder.names, folder.pending);
  }

  #folderOf(path: string): FolderNode {
    let node: Node = this.#top;
    for (const part of relative(this.folder, dirname(path)).split('/').filter(Boolean)) {
      const next: Node | undefined = this.#seen(node as FolderNode).get(part);
      if (next?.kind !== 'folder') throw new Error(`no folder for ${path}`);
      node = next;
    }
    return node as FolderNode;
  }

  #name(path: string, node: Node | undefined, seq: number): void {
    this.#folderOf(path).pending.push({ seq, names: new Map([[basename(path), node]]) });
  }

  #rename(from: string, to: string, seq: number): void {
    const [source, target] = [this.#folderOf(from), this.#folderOf(to)];
    const node = this.#seen(source).get(basename(from));
    if (source === target) {
      const names = new Map([
        [basename(from), undefined],
        [basename(to), node],
      ]);
      source.pending.push({ seq, names });
    } else {
      this.#name(to, node, seq);
      this.#name(from, undefined, seq);
    }
  }

  /** What happened to a node before `begin` is certain from now on. */
  #sync(node: Node, begin: number): void {
    if (node.kind === 'folder') {
      const certain = node.pending.filter(({ seq }) => seq < begin);
      node.names = withNames(node.names, certain);
      node.pending = node.pending.filter(({ seq }) => seq >= begin);
      return;
    }
    for (const change of node.pending) {
      if (change.seq < begin) node.content = applied(node.content, change);
    }
    node.pending = node.pending.filter(({ seq }) => seq >= begin);
  }

  /** Bytes, sizes and names that are not certain now. */
  get uncertain(): number {
    let count = 0;
    for (const node of new Set(this.#byInode.values())) count += node.pending.length;
    return count;
  }

  /** Writes one possible state of the disk into the empty folder `target`. */
  write(target: string, style: Style, random: Random): void {
    const last = random.below(this.#seq + 1);
    const arrives = (seq: number): boolean => {
      if (style.name === 'nothing') return false;
      if (style.name === 'everything') return true;
      if (style.name === 'in order') return seq < last;
      return style.name === 'one lost' ? random.chance(0.9) : random.chance(style.share);
    };
    const write = (folder: FolderNode, path: string): void => {
      const certain = folder.pending.filter(({ seq }) => arrives(seq));
      for (const [name, node] of withNames(folder.names, certain)) {
        const inner = join(path, name);
        if (node.kind === 'file') writeFileSync(inner, contentOf(node, style, arrives, random));
        else {
          mkdirSync(inner);
          write(node, inner);
        }
      }
    };
    write(this.#top, target);
  }
}

function withNames(
  names: ReadonlyMap<string, Node>,
  changes: readonly { names: ReadonlyMap<string, Node | undefined> }[],
): Map<string, Node> {
  const result = new Map(names);
  for (const change of changes) {
    for (const [name, node] of change.names) {
      if (node === undefined) result.delete(name);
      else result.set(name, node);
    }
  }
  return result;
}

function contentOf(
  { content, pending }: FileNode,
  style: Style,
  arrives: (seq: number) => boolean,
  random: Random,
): Buffer {
  let result = copyOf(content);
  for (const change of pending) {
    if (change.kind === 'resize' || (style.name !== 'pages' && style.name !== 'sectors')) {
      if (arrives(change.seq)) result = applied(result, change);
      continue;
    }
    const { at, bytes, seq } = change;
    const piece = pieceOf[style.name];
    for (let from = 0; from < bytes.length; ) {
      // Pieces end where those of the disk do.
      const size = Math.min(piece - ((at + from) % piece), bytes.length - from);
      const part = bytes.subarray(from, from + size);
      if (arrives(seq)) result = applied(result, { ...change, at: at + from, bytes: part });
      from += size;
    }
    // The file may have grown although what fills it never came.
    const end = at + bytes.length;
    if (end > result.length && random.chance(0.3)) {
      result = applied(result, { seq, kind: 'resize', size: end });
    }
  }
  return result;
}
