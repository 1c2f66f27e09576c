import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { ErrorGroup, LogEntry } from '../../../modules/request-log/request-log.ts'
import type { TaskOfRequest } from '../../../modules/tasks/tasks.ts'
import { orNull } from '../../../wires/nullable.ts'
import { AccountId, objectName } from '../../../wires/usual-members.ts'
import {
  AttemptAnswer,
  entryToWire,
  RequestAnswer,
  RequestEntryAnswer,
  requestToWire,
} from '../account/request-log-wire.ts'

const operatorFields = {
  vendor_cost_usd: orNull(
    Type.Number(),
    'What the vendor charges, by the cost of the route that answered and the same counts as `cost_usd`. Accounts never see it. Null: nobody stated a cost.',
  ),
  margin_usd: orNull(Type.Number(), '`cost_usd` less `vendor_cost_usd`. Null if the cost is not known.'),
  account_id: AccountId,
  account_name: orNull(Type.String(), 'The name of the account now.'),
  error_key: orNull(
    Type.String(),
    'Equal for equal errors, for the parameter `error_key`. Null if it was not recorded.',
  ),
  upstream_error: orNull(
    Type.Object({
      status: orNull(Type.Integer(), 'The HTTP status.'),
      code: orNull(Type.String(), "The upstream's own code."),
      message: orNull(
        Type.String(),
        "The upstream's own message, cut to 300 characters and without secrets.",
      ),
    }),
    'What the last upstream that failed said. Accounts do not see it. Null if no upstream failed, or if it was not recorded.',
  ),
}

export const AdminEntryAnswer = Type.Object({ ...RequestEntryAnswer.properties, ...operatorFields })

export const AdminRequestPageAnswer = Type.Object({
  object: objectName('list'),
  data: Type.Array(AdminEntryAnswer, { description: 'The requests of this page, newest first.' }),
  requests: Type.Array(AdminEntryAnswer, { description: 'The same entries as `data`.' }),
  has_more: Type.Boolean({
    description:
      'Whether there may be more. With a rare filter a page may be short, or empty, before the end: a page reads at most 100,000 requests of all accounts, and 20,000 of one.',
  }),
  next_cursor: orNull(Type.String(), 'Send it as `after` for the next page.'),
})

export const AdminRequestAnswer = Type.Object({
  ...RequestAnswer.properties,
  ...operatorFields,
  attempts: orNull(
    Type.Array(
      Type.Object({
        ...AttemptAnswer.properties,
        error_code: orNull(Type.String(), "The upstream's own code, if it failed with one."),
        error_message: orNull(Type.String(), "The upstream's own message, if it failed with one."),
      }),
    ),
    'In order. Null if they were not recorded.',
  ),
})

const NamedAccount = Type.Object({
  account_id: AccountId,
  name: Type.String({ description: 'The name of the account.' }),
  requests: Type.Integer({ description: 'How many requests of it failed so.' }),
})

const ErrorGroupAnswer = Type.Object({
  object: objectName('request.error_group'),
  error_key: Type.String({ description: 'For the parameter `error_key` of the list of requests.' }),
  provider: orNull(Type.String(), 'Who was called last. Null if no upstream was called.'),
  outcome: Type.String({ description: '`failed`, `refused` or `disconnected`.' }),
  http_status: Type.Integer({
    description: 'The status of the answer. 200 for streams that failed in the middle.',
  }),
  error_code: orNull(Type.String(), 'The `code` of the error.'),
  error_message: orNull(Type.String(), 'What the client of the last request was told.'),
  upstream_error: operatorFields.upstream_error,
  requests: Type.Integer({ description: 'How many requests failed so.' }),
  first_seen_at: Type.String({ format: 'date-time', description: 'When the first of them began.' }),
  last_seen_at: Type.String({ format: 'date-time', description: 'When the last of them began.' }),
  last_request_id: Type.String({ description: 'The `x-request-id` of the last of them.' }),
  accounts: Type.Integer({ description: 'How many accounts have the error.' }),
  top_accounts: Type.Array(NamedAccount, { description: 'The accounts that have it most often.' }),
  models: Type.Array(Type.String(), { description: 'Models that have the error, at most five.' }),
})

export const ErrorGroupsAnswer = Type.Object({
  object: objectName('list'),
  data: Type.Array(ErrorGroupAnswer, { description: 'Equal errors, the most frequent first.' }),
  requests: Type.Integer({ description: 'How many requests failed, in all groups.' }),
  has_more: Type.Boolean({ description: 'Whether there are more groups.' }),
})

export function adminEntryToWire(entry: LogEntry): Static<typeof AdminEntryAnswer> {
  return { ...entryToWire(entry), ...operatorFieldsOf(entry) }
}

export function adminRequestToWire(
  entry: LogEntry,
  task: TaskOfRequest | null,
  isBodyStored: boolean,
): Static<typeof AdminRequestAnswer> {
  const { attempts, ...request } = requestToWire(entry, task, isBodyStored)
  return {
    ...request,
    ...operatorFieldsOf(entry),
    attempts:
      attempts?.map((attempt, index) => ({
        ...attempt,
        error_code: entry.attempts?.[index]?.upstreamCode ?? null,
        error_message: entry.attempts?.[index]?.upstreamMessage ?? null,
      })) ?? null,
  }
}

function operatorFieldsOf(entry: LogEntry) {
  const { accountId, accountName, errorKey, upstreamError, costNanoUsd, vendorCostNanoUsd } = entry
  return {
    vendor_cost_usd: vendorCostNanoUsd === null ? null : usdFromNanoUsd(vendorCostNanoUsd),
    margin_usd: vendorCostNanoUsd === null ? null : usdFromNanoUsd(costNanoUsd - vendorCostNanoUsd),
    account_id: accountId,
    account_name: accountName,
    error_key: errorKey,
    upstream_error: upstreamError && { ...upstreamError },
  }
}

export function groupToWire(group: ErrorGroup): Static<typeof ErrorGroupAnswer> {
  const { upstreamStatus: status, upstreamCode: code, upstreamMessage: message } = group
  const isSaid = status !== null || code !== null || message !== null
  return {
    object: 'request.error_group',
    error_key: group.errorKey,
    provider: group.provider || null,
    outcome: group.outcome,
    http_status: group.httpStatus,
    error_code: group.errorCode || null,
    error_message: group.errorMessage,
    upstream_error: isSaid ? { status, code, message } : null,
    requests: group.requests,
    first_seen_at: toTimestamp(group.firstAtMs),
    last_seen_at: toTimestamp(group.lastAtMs),
    last_request_id: `req_${group.lastId.replaceAll('-', '')}`,
    accounts: group.accounts,
    top_accounts: group.topAccounts.map(({ id, name, requests }) => ({ account_id: id, name, requests })),
    models: [...group.models],
  }
}
