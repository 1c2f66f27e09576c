import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The files of a saved bill, in one folder. */
export const BILL_FILES = {
  month: 'month.txt',
  keys: 'keys.json',
  receipts: 'receipts.jsonl',
  records: 'records.jsonl',
  leaves: (number: number) => `leaves-${number}.txt`,
} as const

export interface SavedReceipt {
  /** What is signed. */
  readonly statement: string
  readonly signature: string
}

/** What a statement says. */
export interface Statement {
  readonly accountId: string
  readonly number: number
  readonly day: string
  readonly records: number
  readonly costNanoUsd: bigint
  readonly root: string
  readonly previous: string | null
  readonly keyId: string
  readonly issuedAtMs: number
}

export function readKeys(folder: string): ReadonlyMap<string, string> {
  const keys: unknown = JSON.parse(readFileSync(join(folder, BILL_FILES.keys), 'utf8'))
  if (!Array.isArray(keys)) throw new TypeError(`${BILL_FILES.keys} must have a list of keys`)
  return new Map(keys.map((key: unknown) => [textOf(key, 'id'), textOf(key, 'public_key')]))
}

export function readReceipts(folder: string): SavedReceipt[] {
  const lines = readFileSync(join(folder, BILL_FILES.receipts), 'utf8').split('\n')
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const receipt: unknown = JSON.parse(line)
      return { statement: textOf(receipt, 'statement'), signature: textOf(receipt, 'signature') }
    })
}

export function readStatement(text: string): Statement {
  const statement: unknown = JSON.parse(text)
  return {
    accountId: textOf(statement, 'account_id'),
    number: numberOf(statement, 'number'),
    day: textOf(statement, 'day'),
    records: numberOf(statement, 'records'),
    costNanoUsd: BigInt(textOf(statement, 'cost_nano_usd')),
    root: textOf(statement, 'root'),
    previous: memberOf(statement, 'previous') === null ? null : textOf(statement, 'previous'),
    keyId: textOf(statement, 'key_id'),
    issuedAtMs: Date.parse(textOf(statement, 'issued_at')),
  }
}

/** The month of which all records were saved. Null if the bill does not say it. */
export function readMonth(folder: string): string | null {
  const path = join(folder, BILL_FILES.month)
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null
}

/** A saved record, with the bytes that receipts are about. */
export interface SavedRecord {
  readonly line: string
  readonly requestId: string
  readonly accountId: string
  readonly costNanoUsd: bigint
}

export function walkRecords(folder: string): AsyncGenerator<SavedRecord, void> {
  return walkJsonLines(join(folder, BILL_FILES.records), (line, record) => ({
    line,
    requestId: textOf(record, 'request_id'),
    accountId: textOf(record, 'account_id'),
    costNanoUsd: BigInt(textOf(record, 'cost_nano_usd')),
  }))
}

/** What a client kept of an answer: its `x-request-id`, and the cost that the answer told. */
export interface KeptAnswer {
  readonly requestId: string
  readonly costNanoUsd: bigint | null
}

const NANO = 1_000_000_000

export function walkAnswers(path: string): AsyncGenerator<KeptAnswer, void> {
  return walkJsonLines(path, (_, answer) => {
    const cost = memberOf(answer, 'cost_usd')
    return {
      requestId: textOf(answer, 'request_id'),
      costNanoUsd: typeof cost === 'number' ? BigInt(Math.round(cost * NANO)) : null,
    }
  })
}

async function* walkJsonLines<Item>(
  path: string,
  toItem: (line: string, value: unknown) => Item,
): AsyncGenerator<Item, void> {
  let number = 0
  for await (const line of walkLines(path)) {
    number += 1
    if (line === '') continue
    let item: Item
    try {
      item = toItem(line, JSON.parse(line))
    } catch (error) {
      throw new Error(`${path}, line ${number}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      })
    }
    yield item
  }
}

/** Only a line feed ends a line: the labels of a record may have other characters that end lines elsewhere. */
async function* walkLines(path: string): AsyncGenerator<string, void> {
  let rest = ''
  for await (const piece of createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const lines = piece.split('\n')
    lines[0] = `${rest}${lines[0] ?? ''}`
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

/** The hashes of a receipt by the ids of requests, in their order. Null if they were not saved or are not kept any more. */
export function readLeaves(folder: string, number: number): ReadonlyMap<string, string> | null {
  const path = join(folder, BILL_FILES.leaves(number))
  if (!existsSync(path)) return null
  const lines = readFileSync(path, 'utf8').split('\n')
  const leaves = new Map<string, string>()
  for (const line of lines) {
    if (line === '') continue
    const [, requestId, hash] = /^(req_[0-9a-f]{32}) ([0-9a-f]{32})$/.exec(line) ?? []
    if (requestId === undefined || hash === undefined)
      throw new Error(`${path} has a line that is no id and hash`)
    leaves.set(requestId, hash)
  }
  return leaves.size === 0 ? null : leaves
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) throw new TypeError('not an object')
  return Object.entries(value).find(([key]) => key === name)?.[1]
}

function textOf(value: unknown, name: string): string {
  const member = memberOf(value, name)
  if (typeof member !== 'string') throw new TypeError(`${name} must be a text`)
  return member
}

function numberOf(value: unknown, name: string): number {
  const member = memberOf(value, name)
  if (typeof member !== 'number' || !Number.isSafeInteger(member))
    throw new TypeError(`${name} must be a whole number`)
  return member
}
