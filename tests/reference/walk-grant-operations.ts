import type { MakeCall } from './walk-call.ts'

const FORM = { key: null } as const

/** A tool that a person signs in, and out. */
export async function walkGrants(call: MakeCall, cookie: () => string): Promise<void> {
  const invite = await call('POST /v1/organization/invites', {
    body: { email: 'katherine@example.com', role: 'owner' },
  })
  await call('POST /v1/invites/accept', {
    key: null,
    body: { code: invite.code, name: 'Katherine Johnson' },
  })
  const person = { key: null, headers: { cookie: cookie(), 'sec-fetch-site': 'same-origin' } }
  await call('GET /.well-known/oauth-authorization-server', FORM)
  const refused = await call('POST /oauth/device_authorization', FORM)
  await call('POST /v1/device-authorizations/deny', { ...person, body: { user_code: refused.user_code } })
  const codes = await call('POST /oauth/device_authorization', FORM)
  const body = { user_code: codes.user_code }
  await call('POST /v1/device-authorizations/find', { ...person, body })
  await call('POST /v1/device-authorizations/approve', { ...person, body })
  const tokens = await call('POST /oauth/token', {
    ...FORM,
    body: {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: codes.device_code,
      client_id: 'my-tool',
    },
  })
  await call('POST /v1/metrics', { key: tokens.access_token, body: {} })
  await call('GET /v1/organization/agent_telemetry')
  const { data } = await call('GET /v1/grants', person)
  await call('DELETE /v1/grants/{id}', { ...person, params: { id: data[0].id } })
  await call('POST /oauth/revoke', { ...FORM, body: { token: tokens.refresh_token } })
}
