import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import type {
  RequestBodies,
  RequestLog,
  StoredBodies,
  StoredBody,
} from '../../../modules/request-log/request-log.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { inProject, ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { AccountQuery, parseAccountId, parseRequestId, RequestParams } from './request-log-query.ts'

const bodyFields = {
  text: Type.String({
    description:
      'What was sent, without media (Base64). A body that is cut ends with `…[cut]`. A stream is as it was sent.',
  }),
  bytes: Type.Integer({ description: 'How many bytes were sent.' }),
  cut: Type.Boolean({ description: 'Whether the end is missing.' }),
}

const RequestBodyAnswer = Type.Object({
  object: objectName('request.body'),
  request_id: Type.String({ description: 'The `x-request-id` of the answer.' }),
  request: Type.Object(bodyFields, { description: 'The body of the request.' }),
  answer: Type.Object(
    {
      ...bodyFields,
      assembled_text: Type.Union([Type.String(), Type.Null()], {
        description: 'The text that a stream delivered, of its first choice. Null if it was no stream.',
      }),
    },
    { description: 'The body of the answer.' },
  ),
  expires_at: Type.String({ format: 'date-time', description: 'When the bodies are deleted.' }),
})

interface RequestBodyParts {
  readonly requestLog: Pick<RequestLog, 'read'>
  readonly storedBodies: StoredBodies
  readonly audit: Audit
}

const responses = { 200: { description: 'Both bodies.', schema: RequestBodyAnswer } }

export const requestBodyRoutes = ({ requestLog, storedBodies, audit }: RequestBodyParts): Route[] => {
  const readBodies = async (place: Pick<Caller, 'accountId' | 'projectId'>, requestUuid: string) => {
    // A caller with the right to read bodies reads those of all keys of its account or project.
    const { accountId, projectId } = place
    const { id, keyId } = await requestLog.read({ accountId, projectId, ownKeyId: null }, requestUuid)
    return bodiesToWire(id, await storedBodies.read(accountId, id, keyId))
  }
  return [
    defineRoute({
      method: 'GET',
      tag: 'Usage',
      path: '/v1/requests/:request_id/body',
      access: inProject('bodies.read'),
      summary: 'Read the bodies of a request',
      params: RequestParams,
      responses,
      handle: ({ caller, params }) => readBodies(caller, parseRequestId(params.request_id)),
    }),
    defineRoute({
      method: 'GET',
      tag: 'Operator',
      path: '/v1/admin/requests/:request_id/body',
      access: ofGateway('gateway.manage'),
      summary: 'Read the bodies of a request of an account',
      params: RequestParams,
      query: AccountQuery,
      responses,
      handle: async ({ caller, params, query }) => {
        const accountId = parseAccountId(query.account_id)
        const requestUuid = parseRequestId(params.request_id)
        const target = { kind: 'request', id: requestUuid }
        const entry = {
          actor: caller,
          action: 'request.read_body',
          target,
          details: { account_id: accountId },
        }
        // Written before the bodies are read: whoever reads them is known.
        const { bodies } = await audit.run(entry, async () => ({
          id: requestUuid,
          bodies: await readBodies({ accountId, projectId: null }, requestUuid),
        }))
        return bodies
      },
    }),
  ]
}

function bodiesToWire(
  id: string,
  { request, answer, expiresAtMs }: RequestBodies,
): Static<typeof RequestBodyAnswer> {
  return {
    object: 'request.body',
    request_id: `req_${id.replaceAll('-', '')}`,
    request: bodyToWire(request),
    answer: { ...bodyToWire(answer), assembled_text: answer.assembledText },
    expires_at: toTimestamp(expiresAtMs),
  }
}

function bodyToWire({ text, bytes, isCut }: StoredBody) {
  return { text, bytes, cut: isCut }
}
