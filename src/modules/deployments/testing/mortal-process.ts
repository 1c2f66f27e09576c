import type { GpuDriver } from '../../../gpu/gpu-driver.ts'
import type { Database, Queryable } from '../../../storage/database.ts'

/** Thrown by each step of a killed process. */
class Killed extends Error {
  override readonly name = 'Killed'
}

/**
 * Simulates a process that is killed at a given point. Each statement, transaction and driver call is a step with two such
 * points: one before its effect and one after it.
 */
export class MortalProcess {
  #stepsLeft: number
  #isDead = false

  constructor(stepsLeft = Infinity) {
    this.#stepsLeft = stepsLeft
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** Counts one point before the effect and one after it. */
  async #step<Result>(effect: () => Promise<Result>): Promise<Result> {
    this.#count()
    const result = await effect()
    this.#count()
    return result
  }

  #count(): void {
    this.#stepsLeft -= 1
    if (this.#stepsLeft < 0) this.#isDead = true
    if (this.#isDead) throw new Killed('the process was killed')
  }

  wrapDatabase(database: Database): Database {
    const wrap = (queryable: Queryable): Queryable['query'] => {
      return (sql, values) => this.#step(() => queryable.query(sql, values))
    }
    return {
      query: wrap(database),
      transaction: (work) => this.#step(() => database.transaction((inner) => work({ query: wrap(inner) }))),
      keepConnection: () => database.keepConnection(),
      ping: () => database.ping(),
      close: () => database.close(),
    }
  }

  wrapDriver(driver: GpuDriver): GpuDriver {
    return {
      id: driver.id,
      capacity: () => driver.capacity(),
      launch: (order) => this.#step(() => driver.launch(order)),
      observe: (instanceId) => this.#step(() => driver.observe(instanceId)),
      logs: (instanceId, options) => driver.logs(instanceId, options),
      stop: (instanceId) => this.#step(() => driver.stop(instanceId)),
      sweep: (findKnown) => this.#step(() => driver.sweep(findKnown)),
    }
  }
}
