// What stands behind the temporary names of one load, by ordinal. While nothing but the load itself
// has been written, the elements are known to exist unchanged, and their records need not be read.

const firstRoom = 1024;

export class NameIds {
  /** Whether no other write may have deleted what names stand for. */
  isTrusted = true;
  /** 16 bytes by ordinal. */
  uuids = new Uint8Array(16 * firstRoom);
  #ids = new Uint32Array(firstRoom);
  #labels = new Uint16Array(firstRoom);

  /** Dense id, 0 when the row was refused. */
  get(ordinal: number): number {
    return this.#ids[ordinal] ?? 0;
  }

  label(ordinal: number): number {
    return this.#labels[ordinal]!;
  }

  /** Notes an element whose uuid lies in `bytes` from `at` on. */
  set(ordinal: number, id: number, label: number, bytes: Uint8Array, at: number): void {
    if (ordinal >= this.#ids.length) this.#grow(ordinal + 1);
    this.#ids[ordinal] = id;
    this.#labels[ordinal] = label;
    const { uuids } = this;
    for (let i = 0; i < 16; i++) uuids[16 * ordinal + i] = bytes[at + i]!;
  }

  #grow(needed: number): void {
    const room = Math.max(needed, this.#ids.length * 2);
    const [ids, labels] = [new Uint32Array(room), new Uint16Array(room)];
    const uuids = new Uint8Array(16 * room);
    ids.set(this.#ids);
    labels.set(this.#labels);
    uuids.set(this.uuids);
    [this.#ids, this.#labels, this.uuids] = [ids, labels, uuids];
  }
}
