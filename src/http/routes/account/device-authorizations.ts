import { Type, type Static } from 'typebox'
import { notFound } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { Grants, WaitingDevice } from '../../../modules/grants/grants.ts'
import { orNull } from '../../../wires/nullable.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { CreatedAt, objectName } from '../../../wires/usual-members.ts'
import { ANY_KEY } from '../../access.ts'
import type { UnauthenticatedGuard } from '../../connections/guard-unauthenticated.ts'
import { defineRoute, type Route, type RouteRequest } from '../../route.ts'

interface DeviceAuthorizationOptions {
  readonly grants: Pick<Grants, 'findDevice' | 'approveDevice' | 'denyDevice'>
  readonly guard: Pick<UnauthenticatedGuard, 'addressOf' | 'countSignIn'>
}

const UserCode = Type.String({
  minLength: 1,
  maxLength: 40,
  description: 'The code that the tool shows, in any case, with or without its hyphen.',
})
const CodeBody = Type.Object(
  { user_code: UserCode },
  { additionalProperties: false, examples: [{ user_code: 'BCDF-GHJK' }] },
)
const ApproveBody = Type.Object(
  {
    user_code: UserCode,
    project_id: Type.Optional(
      orNull(
        Type.String({ maxLength: 100 }),
        'Where the tool works: `proj_…`, or null for the whole account. Default: where the session works.',
      ),
    ),
  },
  { additionalProperties: false, examples: [{ user_code: 'BCDF-GHJK' }] },
)

const DeviceAnswer = Type.Object(
  {
    object: objectName('device_authorization'),
    user_code: Type.String({ description: 'The code.' }),
    status: Type.Enum(['pending', 'approved', 'denied'], { description: 'What was decided.' }),
    client_id: Type.String({ description: 'What the tool calls itself. Nothing proves it.' }),
    ip_address: Type.String({ description: 'The address that the tool asked from.' }),
    is_same_address: Type.Boolean({ description: 'Whether this request comes from the same address.' }),
    user_agent: Type.String({ description: 'The program, as it names itself.' }),
    grant_id: orNull(Type.String(), 'The id of the signed-in tool, once it is approved.'),
    created_at: CreatedAt,
    expires_at: Type.String({ format: 'date-time', description: 'Until when it can be decided.' }),
  },
  { title: 'DeviceAuthorization' },
)

type Decision = Pick<Static<typeof DeviceAnswer>, 'status' | 'grant_id'>

const AT = '/v1/device-authorizations'

/** What the page `/device` asks. Only the session of a person may, because a key or a token must not sign in further tools. */
export const deviceAuthorizationRoutes = ({ grants, guard }: DeviceAuthorizationOptions): Route[] => {
  const shared = { tag: 'Signed-in tools', method: 'POST', access: ANY_KEY, otherErrors: [404] } as const
  // Wrong codes count like wrong keys of the address.
  const answer = async (
    { exchange, reply }: Pick<RouteRequest<unknown, unknown, unknown>, 'exchange' | 'reply'>,
    decide: () => Promise<{ device: WaitingDevice; decision: Decision }>,
  ): Promise<Static<typeof DeviceAnswer>> => {
    reply.header('cache-control', 'no-store')
    const { device, decision } = await guard.countSignIn(exchange.incoming, decide)
    return deviceToWire(device, decision, guard.addressOf(exchange.incoming))
  }
  return [
    defineRoute({
      ...shared,
      path: `${AT}/find`,
      summary: 'Find the tool of a code',
      body: CodeBody,
      responses: { 200: { description: 'The tool that waits.', schema: DeviceAnswer } },
      handle: (request) =>
        answer(request, async () => {
          const device = await grants.findDevice(request.caller, request.body.user_code)
          return { device, decision: { status: 'pending', grant_id: null } }
        }),
    }),
    defineRoute({
      ...shared,
      path: `${AT}/approve`,
      summary: 'Sign a tool in',
      body: ApproveBody,
      responses: { 200: { description: 'The tool gets its tokens.', schema: DeviceAnswer } },
      handle: (request) =>
        answer(request, async () => {
          const { caller, body } = request
          const projectId = body.project_id === undefined ? caller.projectId : idOf(body.project_id)
          const approval = { userCode: body.user_code, projectId }
          const { device, grantId } = await grants.approveDevice(caller, approval)
          return { device, decision: { status: 'approved', grant_id: wireId('grant', grantId) } }
        }),
    }),
    defineRoute({
      ...shared,
      path: `${AT}/deny`,
      summary: 'Refuse a tool',
      body: CodeBody,
      responses: { 200: { description: 'The tool is told that it was refused.', schema: DeviceAnswer } },
      handle: (request) =>
        answer(request, async () => {
          const device = await grants.denyDevice(request.caller, request.body.user_code)
          return { device, decision: { status: 'denied', grant_id: null } }
        }),
    }),
  ]
}

function idOf(text: string | null): string | null {
  const id = text === null ? null : parseWireId('project', text)
  if (text !== null && id === null) throw notFound('project')
  return id
}

function deviceToWire(
  device: WaitingDevice,
  decision: Decision,
  address: string,
): Static<typeof DeviceAnswer> {
  return {
    object: 'device_authorization',
    user_code: device.userCode,
    ...decision,
    client_id: device.clientId,
    ip_address: device.ipAddress,
    is_same_address: device.ipAddress === address,
    user_agent: device.userAgent,
    created_at: toTimestamp(device.createdAtMs),
    expires_at: toTimestamp(device.expiresAtMs),
  }
}
