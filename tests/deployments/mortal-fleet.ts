import { setTimeout as delay } from 'node:timers/promises'
import { createRandom } from '../../src/kernel/seeded-random.ts'
import { gpuCost } from '../../src/modules/deployments/bill/gpu-cost.ts'
import { call, until, type Called } from '../app/call.ts'
import type { Fleet, Gateway } from '../ledger/start-fleet.ts'
import { testSeed } from '../support/random-share.ts'
import { findIllegalSteps, type EventRow } from './legal-steps.ts'

interface Owner {
  readonly accountId: string
  readonly key: string
}

export interface RunRow {
  readonly id: string
  readonly deployment_id: string
  readonly price_per_hour_nano_usd: bigint
  readonly bound_at: Date | null
  readonly ready_at: Date | null
  readonly released_at: Date | null
  /** When the engine was lost, if it was not ready again. */
  readonly unready_at: Date | null
  readonly unbound_ms: bigint
  readonly billed_seconds: bigint
  readonly charged_nano_usd: bigint
  readonly uncovered_nano_usd: bigint
  readonly is_held: boolean
}

type Random = ReturnType<typeof createRandom>

interface MortalFleetOptions {
  readonly fleet: Fleet
  /** Returns the body of a request that creates a deployment, for the user with this number. */
  readonly writeOrder: (random: Random, number: number) => object
}

/** Gateways of a fleet that are killed while accounts use deployments. */
export class MortalFleet {
  /** The number of answers by action and status. */
  readonly answers = new Map<string, number>()
  readonly #fleet: Fleet
  readonly #options: MortalFleetOptions
  readonly #owners: Owner[] = []
  /** Null while a gateway is being replaced. */
  readonly #gateways: (Gateway | null)[] = []

  constructor(options: MortalFleetOptions) {
    this.#fleet = options.fleet
    this.#options = options
  }

  async start({ gateways, accounts }: { gateways: number; accounts: number }): Promise<void> {
    for (let count = 0; count < gateways; count += 1) this.#gateways.push(await this.#fleet.start())
    for (let count = 0; count < accounts; count += 1) this.#owners.push(await this.#createOwner())
  }

  async #createOwner(): Promise<Owner> {
    const account = { name: 'Ada', credit_usd: 100 }
    const { body: created } = await this.#fleet.manage('POST', '/v1/admin/accounts', account)
    const path = `/v1/admin/accounts/${created.id}/api-keys`
    const { body: key } = await this.#fleet.manage('POST', path, {
      env: 'dev',
      scopes: ['inference', 'manage'],
    })
    return { accountId: created.id, key: key.key }
  }

  /** Creates, starts, stops, deletes and asks a deployment at random. Accepts every refusal. */
  async use(number: number, isOver: () => boolean): Promise<void> {
    const random = createRandom(testSeed, number)
    const owner = this.#owners[number % this.#owners.length]
    if (owner === undefined) throw new Error('there are no accounts')
    const send = async (
      name: string,
      method: string,
      path: string,
      body?: unknown,
    ): Promise<Called | null> => {
      const { url } = await until(() => this.#gateways[random.below(this.#gateways.length)])
      // A connection of a process that is killed breaks.
      const answer = await call(method, url + path, { key: owner.key, body }).catch(() => null)
      const outcome = `${name} ${answer?.status ?? 'cut'}`
      this.answers.set(outcome, (this.answers.get(outcome) ?? 0) + 1)
      return answer
    }
    let id: string | null = null
    while (!isOver()) {
      await delay(random.below(400))
      if (id === null) {
        id =
          (await send('create', 'POST', '/v1/deployments', this.#options.writeOrder(random, number)))?.body
            .id ?? null
        continue
      }
      const path = `/v1/deployments/${id}`
      const act = random.below(10)
      if (act === 0) await send('stop', 'POST', `${path}/stop`)
      else if (act <= 2) await send('start', 'POST', `${path}/start`)
      else if (act === 3) {
        if ((await send('delete', 'DELETE', path))?.status === 200) id = null
      } else {
        const messages = [{ role: 'user', content: 'Hello!' }]
        await send('chat', 'POST', '/v1/chat/completions', {
          model: `byom-${id}`,
          messages,
          max_tokens: 20,
          stream: act % 2 === 0,
        })
      }
    }
  }

  /** Kills a gateway that runs, and starts another one. */
  async replaceOne(random: Random): Promise<void> {
    const victim = await until(() => this.#gateways[random.below(this.#gateways.length)])
    const index = this.#gateways.indexOf(victim)
    this.#gateways[index] = null
    victim.program.kill('SIGKILL')
    await victim.program.exited
    // One that starts while the database restarts may give up, and is started again as a supervisor does.
    this.#gateways[index] = await until(() => this.#fleet.start().catch(() => null))
  }

  /** Deletes all deployments, also those whose creation was answered to nobody, and waits until their runs have ended. */
  async deleteAll(): Promise<void> {
    for (const { key } of this.#owners)
      await until(async () => {
        const url = this.#gateways[0]?.url ?? ''
        const list = await call('GET', `${url}/v1/deployments?limit=100`, { key }).catch(() => null)
        if (list?.status !== 200) return false
        for (const { id } of list.body.data)
          await call('DELETE', `${url}/v1/deployments/${id}`, { key }).catch(() => null)
        return list.body.data.length === 0
      })
    // Whatever a process was doing when it died is finished by another one.
    await until(async () => (await this.#countOpen()) === 0)
  }

  async #countOpen(): Promise<number> {
    const [row] = await this.#fleet.database.query<{ open: number }>(
      `SELECT ((SELECT count(*) FROM deployment_runs WHERE released_at IS NULL)
        + (SELECT count(*) FROM deployments WHERE status <> 'deleted'))::int AS open`,
    )
    return row?.open ?? 0
  }

  readRuns(): Promise<RunRow[]> {
    return this.#fleet.database.query<RunRow>(
      'SELECT * FROM deployment_runs ORDER BY deployment_id, bound_at',
    )
  }

  async findIllegalSteps(): Promise<string[]> {
    return findIllegalSteps(
      await this.#fleet.database.query<EventRow>(
        'SELECT deployment_id, type, from_status, to_status FROM deployment_events ORDER BY number',
      ),
    )
  }

  async findOpenHolds(): Promise<object[]> {
    return this.#fleet.database.query(
      `SELECT key FROM credit_holds WHERE status = 'open' AND starts_with(key, 'gpu:')`,
    )
  }

  /** Returns the sums of what the three tables say was charged. They must be equal. */
  async readSums(): Promise<{ spent: bigint; charged: bigint; recorded: bigint } | undefined> {
    const [sums] = await this.#fleet.database.query<{ spent: bigint; charged: bigint; recorded: bigint }>(
      `SELECT (SELECT sum(spent_nano_usd) FROM deployments)::bigint AS spent,
         (SELECT sum(charged_nano_usd) FROM deployment_runs)::bigint AS charged,
         (SELECT sum(cost_nano_usd) FROM usage_records WHERE operation = 'gpu')::bigint AS recorded`,
    )
    return sums
  }
}

/** Returns the runs that were not billed exactly once for every second with a GPU. A failed start has none. */
export function findWronglyBilled(runs: readonly RunRow[]): RunRow[] {
  return runs.filter((run) => {
    const seconds = secondsOf(run)
    const cost = gpuCost(run.price_per_hour_nano_usd, seconds)
    return (
      Number(run.billed_seconds) !== seconds ||
      run.charged_nano_usd + run.uncovered_nano_usd !== cost ||
      run.is_held
    )
  })
}

/** Returns the runs that had a GPU while the next run of their deployment already had one. */
export function findOverlapping(runs: readonly RunRow[]): RunRow[] {
  return runs.filter((run, index) => {
    const next = runs[index + 1]
    if (next?.deployment_id !== run.deployment_id || next.bound_at === null || run.released_at === null)
      return false
    return next.bound_at < run.released_at
  })
}

function secondsOf({ bound_at: bound, released_at: released, ...run }: RunRow): number {
  if (bound === null || released === null) return 0
  const endMs = Math.min(released.getTime(), run.unready_at?.getTime() ?? Infinity)
  return Math.max(0, Math.ceil((endMs - bound.getTime() - Number(run.unbound_ms)) / 1000))
}
