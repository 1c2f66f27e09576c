import { Type } from 'typebox'
import { invalidValue, notFound } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Receipt, ReceiptKey, Receipts } from '../../../modules/receipts/receipts.ts'
import { parseMonth } from '../../../modules/statements/statements.ts'
import { orNull } from '../../../wires/nullable.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { inAccount } from '../../access.ts'
import { sendPieces } from '../../answers/send-pieces.ts'
import { defineRoute, type Route } from '../../route.ts'
import { listOf, organizationList, OrganizationListQuery, PAGE_LIMIT } from './organization-list.ts'

const JSON_LINES = 'application/x-jsonl'
const AT = '/v1/organization/receipts'

const ReceiptAnswer = Type.Object(
  {
    id: Type.String({ description: '`receipt_` and its number. Numbers of an account have no gaps.' }),
    object: objectName('organization.receipt'),
    number: Type.Integer({ description: 'From 1.' }),
    day: Type.String({ description: 'The day of UTC on which its requests began.' }),
    records: Type.Integer({ description: 'How many records it is about.' }),
    statement: Type.String({
      description:
        'What is signed, a line of JSON: account, number, day, number of records, their cost, the root of the tree over them, and the SHA-256 of the statement before.',
    }),
    signature: Type.String({ description: 'Ed25519 over the bytes of `statement`, in base64.' }),
  },
  { title: 'Receipt' },
)

const KeyAnswer = Type.Object(
  {
    id: Type.String({ description: 'As `key_id` in statements.' }),
    object: objectName('organization.receipt_key'),
    algorithm: Type.Literal('ed25519', { description: 'The kind of signature.' }),
    public_key: Type.String({ description: 'DER in base64.' }),
    created_at: Type.String({ format: 'date-time', description: 'Since when it signs.' }),
    retired_at: orNull(
      Type.String({ format: 'date-time' }),
      'Since when another key signs. Null for the present one.',
    ),
  },
  { title: 'ReceiptKey' },
)

const RecordsQuery = Type.Object({
  month: Type.String({ maxLength: 16, description: 'The month of UTC in which requests began: `2026-10`.' }),
})

const ReceiptParams = Type.Object({
  receipt_id: Type.String({ maxLength: 64, description: 'The id of the receipt, such as `receipt_12`.' }),
})

interface ReceiptRouteParts {
  readonly receipts: Receipts
  readonly logger: Logger
}

export const receiptRoutes = ({ receipts, logger }: ReceiptRouteParts): Route[] => {
  const shared = { tag: 'Organization', access: inAccount('usage.read') } as const
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: AT,
      summary: 'List the receipts of the account',
      query: OrganizationListQuery,
      responses: {
        200: { description: 'Newest first.', schema: organizationList('ReceiptList', ReceiptAnswer) },
      },
      handle: async ({ caller, query }) => {
        const afterNumber = query.after === undefined ? null : parseReceiptId(query.after)
        if (query.after !== undefined && afterNumber === null)
          throw invalidValue('after', 'after must be the id of a receipt, such as receipt_12.')
        const page = await receipts.list(caller.accountId, { limit: query.limit ?? PAGE_LIMIT, afterNumber })
        return listOf(page, receiptToWire)
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: `${AT}/keys`,
      summary: 'List the keys that sign receipts',
      responses: {
        200: { description: 'Oldest first.', schema: organizationList('ReceiptKeyList', KeyAnswer) },
      },
      handle: async () => listOf({ items: await receipts.listKeys(), hasMore: false }, keyToWire),
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: `${AT}/records`,
      summary: 'Download the records that receipts are about',
      query: RecordsQuery,
      responses: {
        200: {
          description:
            'One line of JSON for each charged request, by id. Receipts are about the bytes of these lines.',
          contentType: JSON_LINES,
          schema: Type.String(),
        },
      },
      handle: async ({ caller, query, reply, exchange: { cancellation } }) => {
        const month = parseMonth(query.month)
        if (month === null) throw invalidValue('month', 'month must be written as 2026-10.')
        const pieces = receipts.walkRecords(caller.accountId, month)
        await sendPieces(reply, {
          name: `records-${month.name}.jsonl`,
          contentType: JSON_LINES,
          pieces,
          logger,
          cancellation,
        })
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: `${AT}/:receipt_id/leaves`,
      summary: 'Download the hashes of the records of a receipt',
      params: ReceiptParams,
      otherErrors: [404],
      responses: {
        200: {
          description:
            'One line a record: the id of the request and a hash. Empty when its records are not kept any more.',
          contentType: 'text/plain',
          schema: Type.String(),
        },
      },
      handle: async ({ caller, params, reply, exchange: { cancellation } }) => {
        const number = parseReceiptId(params.receipt_id)
        if (number === null) throw notFound('receipt')
        await sendPieces(reply, {
          name: `receipt-${number}-leaves.txt`,
          contentType: 'text/plain; charset=utf-8',
          pieces: await receipts.readLeaves(caller.accountId, number),
          logger,
          cancellation,
        })
      },
    }),
  ]
}

/** Returns the number of a receipt, or null. */
function parseReceiptId(text: string): number | null {
  const digits = /^receipt_([1-9]\d{0,8})$/.exec(text)?.[1]
  return digits === undefined ? null : Number(digits)
}

function receiptToWire({ number, day, records, statement, signature }: Receipt) {
  return {
    id: `receipt_${number}`,
    object: 'organization.receipt',
    number,
    day,
    records,
    statement,
    signature,
  }
}

function keyToWire({ id, publicKey, createdAtMs, retiredAtMs }: ReceiptKey) {
  return {
    id,
    object: 'organization.receipt_key',
    algorithm: 'ed25519',
    public_key: publicKey,
    created_at: toTimestamp(createdAtMs),
    retired_at: retiredAtMs === null ? null : toTimestamp(retiredAtMs),
  }
}
