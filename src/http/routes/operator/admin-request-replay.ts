import { Type, type Static } from 'typebox'
import { isRecord } from '../../../kernel/is-record.ts'
import { parseJson } from '../../../kernel/json/parse-json.ts'
import { stringifyJson } from '../../../kernel/json/stringify-json.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { Chat } from '../../../modules/chat/chat.ts'
import { createInferenceRecord, type InferenceResult } from '../../../modules/inference/inference.ts'
import type { RequestLog, StoredBodies } from '../../../modules/request-log/request-log.ts'
import { orNull } from '../../../wires/nullable.ts'
import { AccountId, CostUsd, ModelId, objectName } from '../../../wires/usual-members.ts'
import { ofGateway } from '../../access.ts'
import type { RunPaid } from '../../paid/run-paid.ts'
import { defineRoute, type Route, type RouteRequest } from '../../route.ts'
import { parseAccountId, parseRequestId, RequestParams } from '../account/request-log-query.ts'
import { toReplayedChat } from './replay-body.ts'

// Unknown members are refused, so that a misspelt route does not ask another one.
const ReplayBody = Type.Object(
  {
    account_id: Type.String({ description: 'The id of the account that sent the request.' }),
    provider: Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'The provider that is asked, and no other one.',
    }),
    model: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Another model. The model of the request if it is absent.',
      }),
    ),
  },
  { additionalProperties: false },
)

const ReplayAnswer = Type.Object({
  object: objectName('request.replay'),
  request_id: Type.String({
    description: 'The id of the test call, which is in the log of the account that paid.',
  }),
  replayed_request_id: Type.String({ description: 'The request that was asked again.' }),
  charged_account_id: AccountId,
  model: ModelId,
  provider: Type.String({ description: 'Who answered.' }),
  latency_ms: Type.Integer({ description: 'How long it took.' }),
  prompt_tokens: orNull(Type.Integer(), 'Tokens of the prompt. Null if nobody counted them.'),
  completion_tokens: orNull(Type.Integer(), 'Tokens of the answer. Null if nobody counted them.'),
  cost_usd: CostUsd,
  answer: Type.Object(
    {
      text: Type.String({ description: 'The answer, as chat completion JSON.' }),
      assembled_text: orNull(Type.String(), 'The text of its first choice.'),
    },
    { description: 'The answer of the test call.' },
  ),
})

type ReplayRequest = RouteRequest<Static<typeof ReplayBody>, unknown, Static<typeof RequestParams>>

interface ReplayParts {
  readonly requestLog: Pick<RequestLog, 'read'>
  readonly storedBodies: Pick<StoredBodies, 'read'>
  readonly chat: Pick<Chat, 'chat'>
  readonly audit: Audit
  readonly runPaid: RunPaid
}

/** A request of any account as a test call of an operator, who pays for it. */
export const adminRequestReplayRoutes = (parts: ReplayParts): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/v1/admin/requests/:request_id/replay',
    summary: 'Replay a request as a test call',
    tag: 'Operator',
    access: ofGateway('gateway.manage'),
    params: RequestParams,
    body: ReplayBody,
    otherErrors: [402, 409, 429, 502, 503, 504],
    responses: { 200: { description: 'The answer of the other route.', schema: ReplayAnswer } },
    handle: (request) => {
      const { caller, params, body } = request
      const requestUuid = parseRequestId(params.request_id)
      const entry = {
        actor: caller,
        action: 'request.replay',
        target: { kind: 'request', id: requestUuid },
        details: body,
      }
      // Written before the body is read: whoever reads it is known.
      return parts.audit
        .run(entry, async () => ({ id: requestUuid, answer: await replay(parts, request, requestUuid) }))
        .then(({ answer }) => answer)
    },
  }),
]

async function replay(
  { requestLog, storedBodies, chat, runPaid }: ReplayParts,
  request: ReplayRequest,
  requestUuid: string,
): Promise<Static<typeof ReplayAnswer>> {
  const { caller, exchange, body: wanted } = request
  const accountId = parseAccountId(wanted.account_id)
  const logged = await requestLog.read({ accountId, projectId: null, ownKeyId: null }, requestUuid)
  const bodies = await storedBodies.read(accountId, requestUuid, logged.keyId)
  const asked = toReplayedChat(logged.operation, bodies.request, wanted.model ?? logged.model)
  const text = stringifyJson(asked)
  const record = createInferenceRecord('chat')
  const { id: requestId, cancellation } = exchange
  const result = await runPaid(request, record, () =>
    chat.chat({
      caller,
      body: asked,
      text,
      bytes: Buffer.byteLength(text),
      requestId,
      record,
      cancellation,
      onlyProvider: wanted.provider,
    }),
  )
  const answer = textOf(result)
  return {
    object: 'request.replay',
    request_id: requestId,
    replayed_request_id: `req_${requestUuid.replaceAll('-', '')}`,
    charged_account_id: caller.accountId,
    model: record.model ?? asked.model ?? '',
    provider: record.provider ?? wanted.provider,
    latency_ms: Math.round(performance.now() - record.startedMs),
    prompt_tokens: record.usage?.promptTokens ?? null,
    completion_tokens: record.usage?.completionTokens ?? null,
    cost_usd: usdFromNanoUsd(record.costNanoUsd ?? 0n),
    answer: { text: answer, assembled_text: contentOf(parseJson(answer)) },
  }
}

function textOf(result: InferenceResult): string {
  if (result.kind !== 'complete') throw new Error('a stream came back that was not asked for')
  return typeof result.payload === 'string' ? result.payload : Buffer.concat(result.payload).toString('utf8')
}

function contentOf(answer: unknown): string | null {
  const choices = isRecord(answer) ? answer['choices'] : null
  const first: unknown = Array.isArray(choices) ? choices[0] : null
  const message = isRecord(first) ? first['message'] : null
  const content = isRecord(message) ? message['content'] : null
  return typeof content === 'string' ? content : null
}
