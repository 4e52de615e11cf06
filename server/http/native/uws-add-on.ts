// Loads the native add-on of uWebSockets.js and declares the part of it that the transport uses. It is a
// package for one platform and one version of Node, under an alias of package.json. The JavaScript that
// uWebSockets.js adds to it is not needed here.
// Invariant: native-check.ts has verified the add-on before the main thread loads it.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

const nodeVersion = process.versions.node.split('.')[0];
/** Alias of the package with the add-on for this platform and this version of Node. */
export const addOnName = `uWebSockets.js-${process.platform}-${process.arch}-${nodeVersion}`;

/** A port or a Unix socket on which an app listens; opaque. */
export interface ListenSocket {
  readonly isListenSocket: never;
}

export interface UwsRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  forEach(visit: (name: string, value: string) => void): void;
}

export interface UwsResponse {
  getRemoteAddress(): ArrayBuffer;
  onAborted(handler: () => void): void;
  /** The memory of `chunk` is valid only during the call. */
  onData(handler: (chunk: ArrayBuffer, last: boolean) => void): void;
  onWritable(handler: (offset: number) => boolean): void;
  pause(): void;
  resume(): void;
  cork(work: () => void): void;
  close(): void;
  writeStatus(status: string): void;
  writeHeader(name: string, value: string): void;
  /** Returns false when the client does not read fast enough. */
  write(text: string): boolean;
  tryEnd(body: Uint8Array, totalBytes: number): [ok: boolean, done: boolean];
  getWriteOffset(): number;
  end(body: Uint8Array | string, close?: boolean): void;
  endWithoutBody(): void;
}

type OnListening = (socket: ListenSocket | false) => void;

export interface UwsApp {
  filter(handler: (response: UwsResponse, change: number) => void): void;
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): void;
  listen(host: string, port: number, options: number, callback: OnListening): void;
  listen_unix(callback: OnListening, path: string): void;
  /** Identifies this app to apps of other threads. */
  getDescriptor(): number;
  /** Starts to give the app of this descriptor its share of the connections. */
  addChildAppDescriptor(descriptor: number): void;
  removeChildAppDescriptor(descriptor: number): void;
  close(): void;
}

export interface UwsAddOn {
  App(): UwsApp;
  SSLApp(options: { cert_file_name: string; key_file_name: string; ssl_ciphers: string }): UwsApp;
  us_socket_local_port(socket: ListenSocket): number;
  us_listen_socket_close(socket: ListenSocket): void;
}

/**
 * Loads the add-on. Returns undefined if there is none for this version of Node or C library; `onFailure`
 * receives the reason. UWS_HTTP_MAX_HEADERS_SIZE must be set before the call.
 */
export function loadUws(onFailure?: (reason: string) => void): UwsAddOn | undefined {
  try {
    return require(addOnName) as UwsAddOn;
  } catch (error) {
    onFailure?.(String((error as Error).message).split('\n')[0]!);
    return undefined;
  }
}
