import { createHash } from 'node:crypto'
import { AppError } from '../../kernel/app-error.ts'
import { formatUsd, type NanoUsd } from '../../kernel/money.ts'
import { toStorableJson } from '../../kernel/storable-text.ts'
import type { Database } from '../../storage/database.ts'
import type { Files } from '../files/files.ts'
import type { Caller } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Batch, BatchClaim, LineProblem } from './batch.ts'
import { claimValues, IS_STANDING } from './claim-batch.ts'
import type { BatchEndpoint } from './endpoint.ts'
import { checkLine, isWrong, LINE_BYTES_MAX, type WrongLine } from './lines/check-line.ts'
import { insertLines, type NewLine } from './lines/insert-lines.ts'
import { estimateLine } from './lines/estimate-line.ts'
import { splitLines, type RawLine } from './lines/split-lines.ts'
import type { LinePace } from './pace/line-pace.ts'
import { ENDED_COLUMNS, tellEnd, type EndedRow } from './results/tell-end.ts'

export interface ValidateOptions {
  readonly database: Database
  readonly files: Pick<Files, 'read' | 'open' | 'requireRoom'>
  readonly ledger: Pick<Ledger, 'lookUpBalanceNanoUsd'> | null
  readonly endpoint: BatchEndpoint
  readonly caller: Caller
  /** Whether the lines of a batch may name different models. */
  readonly allowsSeveralModels: boolean
  readonly pace: Pick<LinePace, 'step'>
  /** Whether this process stops, or has lost the batch. */
  readonly isStopped: () => boolean
}

const LINES_MAX = { batches: 50_000, messages: 100_000 } as const
const PROBLEMS_MAX = 1_000
const ROWS_AT_ONCE = 1_000
/** Of the text of one problem: it may quote the client. */
const PROBLEM_LENGTH_MAX = 500
/** More than any batch may cost, and less than the database can store. */
const ESTIMATE_NANO_USD_MAX: NanoUsd = 10n ** 18n

/** Reads and checks all lines and stores where they are. Nothing is charged for that. The batch begins or fails. */
export async function validateBatch(
  batch: Batch,
  claim: BatchClaim,
  options: ValidateOptions,
): Promise<'begun' | 'ended' | 'stopped'> {
  const { database, isStopped } = options
  const reading = new InputReading(batch, claim, options)
  let problems: readonly LineProblem[]
  try {
    problems = await reading.read()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.code === 'service_unavailable') throw error
    problems = [{ code: error.code, message: error.message, param: 'input_file_id', line: null }]
  }
  if (isStopped()) return 'stopped'
  if (problems.length > 0) {
    await failBatch(database, claim, problems)
    return 'ended'
  }
  const { linesTotal, linesFailed, model, estimatedNanoUsd } = reading
  const rows = await database.query(
    `UPDATE batches SET lines_total = $4, lines_failed = $5, model = $6, estimated_nano_usd = $7,
       status = CASE status WHEN 'validating' THEN 'in_progress' ELSE status END,
       in_progress_at = CASE status WHEN 'validating' THEN now() END
     WHERE ${IS_STANDING} RETURNING id`,
    [...claimValues(claim), linesTotal, linesFailed, model, String(estimatedNanoUsd)],
  )
  return rows.length > 0 ? 'begun' : 'stopped'
}

/** Ends a batch without asking anything. */
export async function failBatch(
  database: Database,
  claim: BatchClaim,
  problems: readonly LineProblem[],
): Promise<void> {
  await database.transaction(async (transaction) => {
    const [ended] = await transaction.query<EndedRow>(
      `UPDATE batches SET worker_id = NULL, errors = $4,
         status = CASE status WHEN 'cancelling' THEN 'cancelled' ELSE 'failed' END,
         cancelled_at = CASE status WHEN 'cancelling' THEN now() END,
         failed_at = CASE status WHEN 'cancelling' THEN NULL ELSE now() END
       WHERE ${IS_STANDING} RETURNING ${ENDED_COLUMNS}`,
      [...claimValues(claim), toStorableJson(problems.map(shorten))],
    )
    if (ended === undefined) return
    await transaction.query('DELETE FROM batch_lines WHERE batch_id = $1', [claim.batchId])
    await tellEnd(transaction, ended)
  })
}

function shorten({ message, param, ...problem }: LineProblem): LineProblem {
  return {
    ...problem,
    message: message.slice(0, PROBLEM_LENGTH_MAX),
    param: param?.slice(0, PROBLEM_LENGTH_MAX) ?? null,
  }
}

/** Reads the input file of one batch. */
class InputReading {
  readonly #batch: Batch
  readonly #claim: BatchClaim
  readonly #options: ValidateOptions
  readonly #problems: LineProblem[] = []
  readonly #lineOfId = new Map<string, number>()
  #rows: NewLine[] = []
  #storing: Promise<void> = Promise.resolve()
  #firstModel: string | null = null
  #hasSeveralModels = false
  linesTotal = 0
  linesFailed = 0
  estimatedNanoUsd: NanoUsd = 0n

  constructor(batch: Batch, claim: BatchClaim, options: ValidateOptions) {
    this.#batch = batch
    this.#claim = claim
    this.#options = options
  }

  /** Null for lines of several models. */
  get model(): string | null {
    return this.#hasSeveralModels ? null : this.#firstModel
  }

  async read(): Promise<readonly LineProblem[]> {
    try {
      return await this.#readAll()
    } finally {
      // Nothing is stored after the batch has failed.
      await this.#storing.catch(() => {})
    }
  }

  async #readAll(): Promise<readonly LineProblem[]> {
    const { files, database, isStopped, pace } = this.#options
    const file = await files.read(this.#batch, this.#batch.inputFileId)
    // The batches before this one may have filled the store since it was made.
    await files.requireRoom(this.#batch)
    // Of a validation that was interrupted.
    await database.query('DELETE FROM batch_lines WHERE batch_id = $1', [this.#claim.batchId])
    for await (const raw of splitLines(await files.open(file), LINE_BYTES_MAX)) {
      if (isStopped() || this.#problems.length >= PROBLEMS_MAX) break
      if (this.linesTotal >= LINES_MAX[this.#batch.wire]) {
        const message = `A batch has ${LINES_MAX[this.#batch.wire]} lines at most.`
        this.#problems.push({ code: 'too_many_lines', message, param: null, line: raw.number })
        break
      }
      this.linesTotal += 1
      await this.#check(raw)
      if (this.#rows.length >= ROWS_AT_ONCE) await this.#store()
      await pace.step()
    }
    if (this.linesTotal === 0)
      this.#problems.push({ code: 'empty_file', message: 'The file has no lines.', param: null, line: null })
    if (this.#problems.length === 0) await this.#store()
    await this.#storing
    if (this.#problems.length === 0) await this.#requireCredit()
    return this.#problems
  }

  async #check(raw: RawLine): Promise<void> {
    const { number: line, content, bytes } = raw
    if (content === null) {
      const message = `The line is longer than ${LINE_BYTES_MAX / 1024 / 1024} MB.`
      this.#problems.push({ code: 'line_too_long', message, param: null, line })
      return
    }
    const checked = await checkLine(content, this.#options)
    if (isWrong(checked)) {
      this.#takeWrong(raw, checked)
      return
    }
    const { customId, quote } = checked
    const idKey = keyOf(customId)
    const earlier = this.#lineOfId.get(idKey)
    if (earlier !== undefined) {
      const message = `The custom_id of this line is that of line ${earlier}.`
      this.#problems.push({ code: 'duplicate_custom_id', message, param: 'custom_id', line })
      return
    }
    this.#lineOfId.set(idKey, line)
    if (quote !== null) {
      const { model, nanoUsd } = quote
      this.#noteModel(model.id, line)
      this.#addToEstimate(nanoUsd ?? estimateLine(model, checked.body, bytes))
    }
    this.#rows.push({ raw: placeOf(raw), customId, problem: null })
  }

  /** Fails the batch, or only the line where that is the custom of the wire. */
  #takeWrong(raw: RawLine, { customId, ...problem }: WrongLine): void {
    if (this.#batch.wire === 'batches' || customId === null) {
      this.#problems.push({ ...problem, line: raw.number })
      return
    }
    this.linesFailed += 1
    this.#rows.push({ raw: placeOf(raw), customId, problem })
  }

  #noteModel(modelId: string, line: number): void {
    this.#firstModel ??= modelId
    if (modelId === this.#firstModel) return
    this.#hasSeveralModels = true
    if (this.#options.allowsSeveralModels || this.#batch.wire !== 'batches') return
    const message = `All lines of a batch ask one model, here '${this.#firstModel}'.`
    this.#problems.push({ code: 'mismatched_model', message, param: 'body.model', line })
  }

  #addToEstimate(nanoUsd: NanoUsd): void {
    const sum = this.estimatedNanoUsd + nanoUsd
    this.estimatedNanoUsd = sum < ESTIMATE_NANO_USD_MAX ? sum : ESTIMATE_NANO_USD_MAX
  }

  /** Lines are stored while the next ones are read. */
  async #store(): Promise<void> {
    const rows = this.#rows
    this.#rows = []
    await this.#storing
    if (rows.length === 0 || this.#problems.length > 0) return
    this.#storing = insertLines(this.#options.database, this.#claim, rows)
    // A failure is met by whoever waits for it next.
    this.#storing.catch(() => {})
  }

  async #requireCredit(): Promise<void> {
    const { ledger } = this.#options
    if (ledger === null || this.#batch.runsAsFar) return
    const balanceNanoUsd = await ledger.lookUpBalanceNanoUsd(this.#batch.accountId)
    if (this.estimatedNanoUsd <= balanceNanoUsd) return
    const message =
      `The lines may cost ${formatUsd(this.estimatedNanoUsd)} USD, which the balance does not cover. ` +
      "Add credit, or send 'run_as_far_as_credit_goes': true."
    this.#problems.push({ code: 'insufficient_balance', message, param: null, line: null })
  }
}

/** Without the content, which would be in memory until it is stored. */
function placeOf({ number, firstByte, bytes }: RawLine): NewLine['raw'] {
  return { number, firstByte, bytes }
}

/** Long ids are remembered by their hash, so that those of a whole batch take little memory. */
function keyOf(customId: string): string {
  return customId.length <= 64 ? customId : createHash('sha256').update(customId).digest('base64')
}
