import type { GpuDriver } from '../../../gpu/gpu-driver.ts'
import type { Database, Queryable } from '../../../storage/database.ts'

/** What a process that was killed sees of the world: nothing any more. */
export class Killed extends Error {
  override readonly name = 'Killed'
}

/**
 * A process that is killed after so many steps, a step being a statement, a commit or a call of the driver: half of the deaths come before
 * the step has its effect, the other half after.
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

  /** Two deaths a step: one at an even number, before it, and one at an odd number, behind it. */
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
