/** A map up to this size is read within a fraction of a millisecond. */
const PIECE_MIN = 2_000
const PIECES = 4

/** Iterates over the values of a map repeatedly. A large map is read in pieces, so that the event loop is not blocked. */
export class Walk<Value> {
  readonly #map: ReadonlyMap<unknown, Value>
  #rest: Iterator<Value>

  constructor(map: ReadonlyMap<unknown, Value>) {
    this.#map = map
    this.#rest = map.values()
  }

  /** All values, or the next quarter of a large map. Values may be deleted meanwhile. */
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
