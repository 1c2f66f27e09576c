import type { NanoUsd } from '../../../src/kernel/money.ts'
import { postCharges } from '../../../src/modules/ledger/ledger.ts'
import type { Database } from '../../../src/storage/database.ts'
import type { Case } from '../case.ts'
import type { InvoiceLine } from '../vendors/invoice-line.ts'
import type { PlannedWork } from '../vendors/planned-work.ts'
import { priceLine } from './price-line.ts'

export interface Account {
  readonly invoicedNanoUsd: NanoUsd
  readonly chargedNanoUsd: NanoUsd
  readonly uncoveredNanoUsd: NanoUsd
  /** What is wrong with it, in words. */
  readonly problems: readonly string[]
}

export interface Settled {
  readonly accountId: string
  readonly lines: readonly InvoiceLine[]
  readonly planned: PlannedWork
  /** The statuses of the answers. Null for a connection that was closed before. */
  readonly statuses: readonly (number | null)[]
}

/** Compares what an account was charged with what the vendors invoice. */
export async function checkAccount(
  database: Database,
  made: Case,
  { accountId, lines, planned, statuses }: Settled,
): Promise<Account> {
  const { chargedNanoUsd, uncoveredNanoUsd } = await readCharges(database, accountId)
  const owed = made.end.name === 'crashed' ? owedAfterCrash(made, lines) : owedBy(statuses, lines)
  const invoicedNanoUsd = owed.reduce((sum, line) => sum + priceLine(line), 0n)
  const problems: string[] = []
  if (planned.failure !== null) problems.push(`the simulated vendor failed: ${planned.failure}`)
  if (chargedNanoUsd < invoicedNanoUsd)
    problems.push(`charged ${toUsd(chargedNanoUsd)}, but the vendor invoices ${toUsd(invoicedNanoUsd)}`)
  if (uncoveredNanoUsd > 0n) problems.push(`${toUsd(uncoveredNanoUsd)} of the cost are not covered`)
  // A piece on its way to a connection that is being closed is on no line, but may have reached the client.
  const isWorkless = lines.length === 0 && !planned.hasWritten && made.work.failure !== 'cut'
  if (isWorkless && chargedNanoUsd > 0n) problems.push(`charged ${toUsd(chargedNanoUsd)} without work`)
  const isWhole = made.end.name === 'whole' && lines.length > 0 && lines.every((line) => line.isWhole)
  const mostNanoUsd = owed.reduce((sum, line) => sum + priceLine(withUnreportedAudio(line, made)), 0n)
  if (isWhole && made.work.failure === null && chargedNanoUsd > mostNanoUsd)
    problems.push(`charged ${toUsd(chargedNanoUsd)} for answers that cost ${toUsd(invoicedNanoUsd)}`)
  return { invoicedNanoUsd, chargedNanoUsd, uncoveredNanoUsd, problems }
}

/** The usage of OpenAI's Responses does not say how much of a prompt was audio, so all of it may be charged as audio. */
function withUnreportedAudio(line: InvoiceLine, { wire }: Case): InvoiceLine {
  const { counts } = line
  const isReported = wire !== 'responses' && wire !== 'background'
  if (isReported || counts.audioPromptTokens === undefined) return line
  return { ...line, counts: { ...counts, audioPromptTokens: counts.promptTokens } }
}

/** Nobody is paid for the work of an own server, so an account that got no answer of it owes none. */
function owedBy(statuses: readonly (number | null)[], lines: readonly InvoiceLine[]): InvoiceLine[] {
  const isAnswered = statuses.some((status) => status !== null && status < 300)
  return lines.filter(({ vendor }) => vendor !== 'vllm' || isAnswered)
}

/**
 * A request that a killed process served is not charged, as documented: its client got no answer. What a background response
 * delivered is charged, also if nobody can go on with it.
 */
function owedAfterCrash({ wire, isStream }: Case, lines: readonly InvoiceLine[]): InvoiceLine[] {
  const whole = lines.filter((line) => line.isWhole)
  if (whole.length > 0 || wire !== 'background' || !isStream) return whole
  return lines.filter(({ seen }) => seen.completionTokens > 0).map((line) => ({ ...line, counts: line.seen }))
}

async function readCharges(database: Database, accountId: string) {
  await postCharges(database)
  const rows = await database.query<{ charged: bigint | null; uncovered: bigint | null }>(
    `SELECT sum(cost_nano_usd)::bigint AS charged, sum(uncovered_nano_usd)::bigint AS uncovered
     FROM usage_records WHERE account_id = $1`,
    [accountId],
  )
  return { chargedNanoUsd: rows[0]?.charged ?? 0n, uncoveredNanoUsd: rows[0]?.uncovered ?? 0n }
}

export function toUsd(nanoUsd: NanoUsd): string {
  return `$${(Number(nanoUsd) / 1e9).toFixed(9)}`
}
