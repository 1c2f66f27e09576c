import { setTimeout as delay } from 'node:timers/promises'
import type { Case } from './case.ts'
import { checkAccount, type Account } from './check/check-account.ts'
import { END_STEPS } from './ends/end-steps.ts'
import { finishWork } from './ends/background-work.ts'
import type { RunningCase } from './ends/running-case.ts'
import { SentRequest, type WrittenRequest } from './ends/send-request.ts'
import { writeRequest } from './generate/write-request.ts'
import type { Stage } from './start-stage.ts'
import type { InvoiceLine } from './vendors/invoice-line.ts'

export interface CaseOutcome extends Account {
  readonly made: Case
  readonly request: WrittenRequest
  readonly statuses: readonly (number | null)[]
  readonly lines: readonly InvoiceLine[]
}

/** Longer than any answer takes on a loaded machine. */
const SETTLE_MS_MAX = 60_000
const END_MS_MAX = 120_000
const POLL_MS = 10

/** Sends the request of a case from an account of its own, ends it, waits until all is charged, and compares. */
export async function runCase(stage: Stage, made: Case): Promise<CaseOutcome> {
  const running = await beginCase(stage, made)
  try {
    await untilEnded(running)
    running.planned.release()
    return await finishCase(stage, running)
  } finally {
    running.planned.release()
    stage.plans.remove(made.number)
  }
}

/** Ends the case as it asks for. Fails if that never happens, instead of keeping all others waiting. */
async function untilEnded(running: RunningCase): Promise<void> {
  const { number, end } = running.made
  const stopped = new AbortController()
  const late = delay(END_MS_MAX, null, { signal: stopped.signal }).then(() => {
    throw new Error(
      `case ${number} does not end as '${end.name}': ${running.planned.running} calls at vendors`,
    )
  })
  try {
    await Promise.race([END_STEPS[end.name](running), late])
  } finally {
    stopped.abort()
    late.catch(() => {})
  }
}

/** Retries if the case does, waits until all is charged, and compares. */
export async function finishCase(stage: Stage, running: RunningCase): Promise<CaseOutcome> {
  const { made, planned, statuses, request, accountId } = running
  if (made.end.retry !== null) {
    const answered = await running.send().answered
    statuses.push(answered.status)
    await finishWork(running, answered)
  }
  await settle(running)
  const lines = stage.linesOf(made.number)
  const account = await checkAccount(stage.database, made, { accountId, lines, planned, statuses })
  return { ...account, made, request, statuses, lines }
}

/** Creates an account with its keys and writes its request. */
export async function beginCase(stage: Stage, made: Case): Promise<RunningCase> {
  const { gateway } = stage
  const manage = async (method: string, path: string, body?: unknown) => {
    let answer = await gateway.request(method, path, body === undefined ? {} : { body })
    // A loaded machine may answer an operator late.
    while (answer.status === 503)
      answer = await gateway.request(method, path, body === undefined ? {} : { body })
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const account = await manage('POST', '/v1/admin/accounts', {
    name: `case ${made.number}`,
    credit_usd: made.balanceUsd,
  })
  const keysPath = `/v1/admin/accounts/${account.id}/api-keys`
  const auditor = await manage('POST', keysPath, { scopes: ['inference', 'manage'] })
  const key = await manage('POST', keysPath, { scopes: ['inference', 'manage'] })
  const written = writeRequest(made, stage.files)
  const request = made.wire === 'turn' ? await beginConversation(stage, made, auditor.key, written) : written
  const planned = stage.plans.add(made.number, made.work)
  const headers = made.end.retry === 'with key' ? { 'idempotency-key': `case-${made.number}` } : {}
  return {
    made,
    planned,
    request,
    accountId: account.id,
    keyPath: `${keysPath}/${key.id}`,
    statuses: [],
    send: () => new SentRequest(gateway.baseUrl, key.key, request, headers),
    manage,
    ask: async (method, path) => (await gateway.request(method, path, { key: auditor.key })).body,
  }
}

async function beginConversation(
  { gateway }: Stage,
  made: Case,
  key: string,
  { path, text }: WrittenRequest,
): Promise<WrittenRequest> {
  const body = { models: [made.model, 'gpt-4o-mini'] }
  const { body: conversation } = await gateway.request('POST', path, { key, body })
  return { path: `${path}/${conversation.id}/turns`, text }
}

/** Waits until no vendor works for the account and nothing of it is held. */
async function settle(running: RunningCase): Promise<void> {
  const deadline = performance.now() + SETTLE_MS_MAX
  for (let calm = 0; calm < 2;) {
    await delay(POLL_MS)
    const { held_usd: held } = await running.ask('GET', '/v1/usage/budget')
    calm = running.planned.running === 0 && held === 0 ? calm + 1 : 0
    if (performance.now() < deadline) continue
    const { running: calls } = running.planned
    throw new Error(`case ${running.made.number} does not settle: ${calls} calls at vendors, $${held} held`)
  }
}
