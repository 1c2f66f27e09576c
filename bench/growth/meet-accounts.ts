import { buildChatBody, buildRequest } from '../build-request.ts'
import type { ExchangeJob } from '../load/load-job.ts'
import type { LoadGenerator } from '../load/load-generator.ts'
import type { RunningContestant } from '../running-contestant.ts'
import type { GrowthStage } from './growth-stage.ts'
import { KEY_DIGITS, KEY_OF_FIRST_ACCOUNT } from './seed-accounts.ts'

const CROWD = 64
const STRETCH_MS = 1000

/** Builds a load that rotates over the first `accounts` accounts, one request each. */
export function buildRotatingLoad({ port }: RunningContestant, accounts: number) {
  return {
    port,
    request: buildRequest({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${KEY_OF_FIRST_ACCOUNT}` },
      body: buildChatBody(),
    }),
    rotation: { digits: KEY_DIGITS, count: accounts },
    concurrency: CROWD,
  } satisfies Partial<ExchangeJob>
}

interface Meeting {
  readonly stage: GrowthStage
  readonly times: number
  /** Time limit in seconds. */
  readonly secondsMax: number
}

/**
 * Sends requests until the gateway has seen each account `times` times. It then has cached the keys and borrowed credit, which it
 * must do again for accounts it has not seen for half a minute. Returns the reason of the first failure.
 */
export async function meetAccounts(
  load: LoadGenerator,
  contestant: RunningContestant,
  { stage: { accounts }, times, secondsMax }: Meeting,
): Promise<string | null> {
  const job = { ...buildRotatingLoad(contestant, accounts), warmupMs: 0, durationMs: STRETCH_MS }
  let [answers, failure]: [number, string | null] = [0, null]
  for (let second = 0; second < secondsMax && answers < times * accounts; second += 1) {
    const result = await load.runExchanges(job)
    answers += result.answers
    failure ??= result.firstFailure
  }
  return failure
}
