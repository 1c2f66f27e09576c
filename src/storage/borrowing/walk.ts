/** Few enough to be looked at within a fraction of a millisecond. */
const PIECE_MIN = 2_000
const PIECES = 4

/** Goes round the values of a map again and again. Those of a large one are seen in pieces, so that nobody waits long behind one. */
export class Walk<Value> {
  readonly #map: ReadonlyMap<unknown, Value>
  #rest: Iterator<Value>

  constructor(map: ReadonlyMap<unknown, Value>) {
    this.#map = map
    this.#rest = map.values()
  }

  /** All values, or the next quarter of very many. They may be deleted meanwhile. */
  *next(): Generator<Value> {
    const count = Math.max(PIECE_MIN, Math.ceil(this.#map.size / PIECES))
    for (let seen = 0; seen < count; seen += 1) {
      const { value, done } = this.#rest.next()
      if (done) {
        this.#rest = this.#map.values()
        return
      }
      yield value
    }
  }
}
