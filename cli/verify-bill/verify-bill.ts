import { createPublicKey, verify } from 'node:crypto'
import { hashOfRecord, rootOf, sha256 } from './hashes.ts'
import {
  BILL_FILES,
  readKeys,
  readLeaves,
  readMonth,
  readReceipts,
  readStatement,
  walkAnswers,
  walkRecords,
  type SavedReceipt,
  type SavedRecord,
  type Statement,
} from './saved-bill.ts'

interface VerifyOptions {
  /** The folder of the saved bill. */
  readonly folder: string
  /** A file with what the client kept of answers, or null. */
  readonly answers: string | null
  /** The folder of a bill that was saved earlier, whose receipts must all be there, or null. */
  readonly earlier: string | null
  /** The only keys to trust, as base64. None: those that were saved with the bill. */
  readonly trustedKeys: readonly string[]
  /** Called with each thing that is wrong. */
  readonly onProblem: (problem: string) => void
}

export interface CheckedBill {
  readonly receipts: number
  readonly records: number
  readonly costNanoUsd: bigint
  /** Records of days that have no receipt yet. */
  readonly unsigned: number
  readonly answers: number
  /** Keys that the earlier bill did not have. */
  readonly newKeys: readonly string[]
  readonly problems: number
}

/** Checks a saved bill against its signed receipts, with nothing but its files. */
export async function verifyBill(options: VerifyOptions): Promise<CheckedBill> {
  const { folder, answers, earlier } = options
  let problems = 0
  const report = (problem: string): void => {
    problems += 1
    options.onProblem(problem)
  }
  const receipts = readReceipts(folder)
  const statements = checkReceipts(receipts, trusted(options, report), report)
  if (earlier !== null) compareReceipts(receipts, readReceipts(earlier), report)
  const newKeys = earlier === null ? [] : compareKeys(readKeys(folder), readKeys(earlier), report)
  const check = new RecordCheck(folder, statements, report)
  for await (const record of walkRecords(folder)) check.add(record)
  const totals = check.finish()
  const compared = answers === null ? 0 : await compareAnswers(folder, answers, report)
  return { ...totals, receipts: statements.length, answers: compared, newKeys, problems }
}

type Report = (problem: string) => void

function trusted({ folder, trustedKeys }: VerifyOptions, report: Report): ReadonlyMap<string, string> {
  const keys = readKeys(folder)
  if (trustedKeys.length === 0) return keys
  for (const [id, key] of keys)
    if (!trustedKeys.includes(key)) report(`key ${id} is not one of the keys that you trust`)
  return new Map([...keys].filter(([, key]) => trustedKeys.includes(key)))
}

/** A chain that was written anew is whole in itself. It differs from what was saved before. */
function compareReceipts(
  receipts: readonly SavedReceipt[],
  earlier: readonly SavedReceipt[],
  report: Report,
): void {
  const statements = new Set(receipts.map(({ statement }) => statement))
  for (const { statement } of earlier)
    if (!statements.has(statement))
      report(`receipt ${readStatement(statement).number} is not the one that was saved earlier`)
}

/** The same statements could be signed anew with another key, and later ones with it. Returns the ids of keys that are new. */
function compareKeys(
  keys: ReadonlyMap<string, string>,
  earlier: ReadonlyMap<string, string>,
  report: Report,
): string[] {
  for (const [id, key] of earlier)
    if (keys.get(id) !== key) report(`key ${id} is not the one that was saved earlier`)
  return [...keys.keys()].filter((id) => !earlier.has(id))
}

/** Checks the signature of each receipt, and that they form one chain. */
function checkReceipts(
  receipts: readonly SavedReceipt[],
  keys: ReadonlyMap<string, string>,
  report: Report,
): Statement[] {
  const read = receipts
    .map((receipt) => ({ ...receipt, said: readStatement(receipt.statement) }))
    .toSorted((a, b) => a.said.number - b.said.number)
  let before: string | null = null
  for (const [index, { statement, signature, said }] of read.entries()) {
    const key = keys.get(said.keyId)
    if (key === undefined) report(`receipt ${said.number} is signed with the unknown key ${said.keyId}`)
    else if (!isSigned(statement, signature, key)) report(`receipt ${said.number} has a wrong signature`)
    if (said.number !== index + 1)
      report(`receipt ${said.number} stands where number ${index + 1} is expected`)
    if (said.previous !== before) report(`receipt ${said.number} does not follow the receipt before it`)
    if (said.accountId !== read[0]?.said.accountId) report(`receipt ${said.number} is of another account`)
    before = sha256(statement)
  }
  return read.map(({ said }) => said)
}

function isSigned(statement: string, signature: string, publicKey: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
    return (
      key.asymmetricKeyType === 'ed25519' &&
      verify(null, Buffer.from(statement), key, Buffer.from(signature, 'base64'))
    )
  } catch {
    return false
  }
}

/** Compares the records of one day after the other with the receipts of the day. Records come by id, so days come in their order. */
class RecordCheck {
  readonly #folder: string
  readonly #byDay = new Map<string, Statement[]>()
  readonly #accountId: string | null
  readonly #report: Report
  readonly #seenDays = new Set<string>()
  readonly #firstDay: string | null
  readonly #lastIssuedMs: number
  #day = ''
  #records: SavedRecord[] = []
  #lastId = ''
  #count = 0
  #unsigned = 0
  #costNanoUsd = 0n

  constructor(folder: string, statements: readonly Statement[], report: Report) {
    this.#folder = folder
    this.#report = report
    this.#accountId = statements[0]?.accountId ?? null
    this.#firstDay = statements[0]?.day ?? null
    this.#lastIssuedMs = statements.at(-1)?.issuedAtMs ?? 0
    for (const statement of statements)
      this.#byDay.set(statement.day, [...(this.#byDay.get(statement.day) ?? []), statement])
  }

  add(record: SavedRecord): void {
    if (record.requestId <= this.#lastId)
      this.#report(`record ${record.requestId} occurs twice, or out of order`)
    this.#lastId = record.requestId
    if (this.#accountId !== null && record.accountId !== this.#accountId)
      this.#report(`record ${record.requestId} is of another account`)
    const day = dayOf(record.requestId)
    if (day !== this.#day) this.#endDay()
    this.#day = day
    this.#records.push(record)
    this.#count += 1
    this.#costNanoUsd += record.costNanoUsd
  }

  finish() {
    this.#endDay()
    // Days of the same months of which every record is missing.
    const months = new Set([...this.#seenDays].map(monthOf))
    const month = readMonth(this.#folder)
    if (month !== null) months.add(month)
    for (const day of this.#byDay.keys())
      if (!this.#seenDays.has(day) && (months.has(monthOf(day)) || this.#hasLeaves(day)))
        this.#compare(day, [])
    return { records: this.#count, unsigned: this.#unsigned, costNanoUsd: this.#costNanoUsd }
  }

  #endDay(): void {
    if (this.#day === '') return
    this.#seenDays.add(this.#day)
    this.#compare(this.#day, this.#records)
    this.#records = []
    this.#day = ''
  }

  #hasLeaves(day: string): boolean {
    return (this.#byDay.get(day) ?? []).some(({ number }) => readLeaves(this.#folder, number) !== null)
  }

  #compare(day: string, records: readonly SavedRecord[]): void {
    const statements = this.#byDay.get(day) ?? []
    if (statements.length === 0) return this.#noteUnsigned(day, records)
    const left = new Map(records.map((record) => [record.requestId, record]))
    for (const statement of statements) this.#compareReceipt(statement, left, statements.length === 1)
    for (const requestId of left.keys())
      this.#report(`record ${requestId} was added: no receipt of ${day} has it`)
  }

  /** Of days before the first receipt, and of those that are looked at again. */
  #noteUnsigned(day: string, records: readonly SavedRecord[]): void {
    const isOver = Date.parse(day) + LOOKED_AT_MS <= this.#lastIssuedMs
    if (this.#firstDay === null || day < this.#firstDay || !isOver) {
      this.#unsigned += records.length
      return
    }
    for (const { requestId } of records)
      this.#report(`record ${requestId} was added: ${day} has no receipt, and later days have`)
  }

  /** Takes the records of the receipt out of those that are left. */
  #compareReceipt(statement: Statement, left: Map<string, SavedRecord>, isOnly: boolean): void {
    const { number, day } = statement
    const leaves = readLeaves(this.#folder, number)
    if (leaves === null && !isOnly)
      return this.#report(`${BILL_FILES.leaves(number)} is needed: ${day} has several receipts`)
    if (leaves === null && left.size === 0)
      return this.#report(`all ${statement.records} records of receipt ${number} of ${day} are missing`)
    // Without its hashes a receipt still tells whether anything was changed, but not what.
    const signed =
      leaves ?? new Map([...left.values()].map(({ requestId, line }) => [requestId, hashOfRecord(line)]))
    if (signed.size !== statement.records || rootOf(signed) !== statement.root)
      this.#report(
        leaves === null
          ? `the records of ${day} are not those of receipt ${number}`
          : `${BILL_FILES.leaves(number)} is not what receipt ${number} was signed for`,
      )
    let costNanoUsd = 0n
    let isWhole = true
    for (const [requestId, hash] of signed) {
      const record = left.get(requestId)
      left.delete(requestId)
      if (record === undefined) this.#report(`record ${requestId} of ${day} was removed`)
      else if (hashOfRecord(record.line) !== hash) this.#report(`record ${requestId} of ${day} was changed`)
      else {
        costNanoUsd += record.costNanoUsd
        continue
      }
      isWhole = false
    }
    if (isWhole && costNanoUsd !== statement.costNanoUsd)
      this.#report(
        `the records of receipt ${number} cost ${costNanoUsd} nano-dollars, it says ${statement.costNanoUsd}`,
      )
  }
}

/** Compares what the client kept of its answers with the records. Returns how many answers there are. */
async function compareAnswers(folder: string, path: string, report: Report): Promise<number> {
  const kept = new Map<string, bigint | null>()
  for await (const { requestId, costNanoUsd } of walkAnswers(path)) kept.set(requestId, costNanoUsd)
  const found = new Set<string>()
  for await (const { requestId, costNanoUsd } of walkRecords(folder)) {
    if (!kept.has(requestId)) continue
    found.add(requestId)
    const told = kept.get(requestId) ?? null
    if (told !== null && told !== costNanoUsd)
      report(
        `answer ${requestId} said that it cost ${told} nano-dollars, and ${costNanoUsd} nano-dollars were charged`,
      )
  }
  for (const requestId of kept.keys()) if (!found.has(requestId)) report(`answer ${requestId} has no record`)
  return kept.size
}

/** After this time every day was looked at for the last time: 32 days after its end, and a day to do it. */
const LOOKED_AT_MS = 34 * 86_400_000

const TIME_DIGITS = 12

/** The day of UTC on which a request began, which its id begins with. */
function dayOf(requestId: string): string {
  const ms = Number.parseInt(requestId.slice('req_'.length, 'req_'.length + TIME_DIGITS), 16)
  return new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length)
}

const monthOf = (day: string): string => day.slice(0, 'YYYY-MM'.length)
