import { expect } from 'vitest'
import type { Person } from '../organization/join-account.ts'
import type { TestAnswer, TestGateway } from '../support/start-test-gateway.ts'

export const CLIENT_ID = 'parkway-cli'
export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

type Asked = Pick<TestGateway, 'request'>

/** Sends a form, as clients of OAuth do. */
export function postForm(
  gateway: Asked,
  path: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestAnswer> {
  return gateway.request('POST', path, {
    key: null,
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })
}

export interface Codes {
  readonly deviceCode: string
  readonly userCode: string
}

export async function requestCodes(gateway: Asked, clientId = CLIENT_ID): Promise<Codes> {
  const { status, body } = await postForm(gateway, '/oauth/device_authorization', { client_id: clientId })
  expect([status, body]).toEqual([200, body])
  return { deviceCode: String(body.device_code), userCode: String(body.user_code) }
}

/** Asks for the tokens of a device code. */
export function poll(gateway: Asked, deviceCode: string, clientId = CLIENT_ID): Promise<TestAnswer> {
  const fields = { grant_type: DEVICE_CODE_GRANT, device_code: deviceCode, client_id: clientId }
  return postForm(gateway, '/oauth/token', fields)
}

export function refresh(gateway: Asked, refreshToken: string, clientId = CLIENT_ID): Promise<TestAnswer> {
  const fields = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId }
  return postForm(gateway, '/oauth/token', fields)
}

export interface SignedInTool {
  /** `grant_…` */
  readonly grantId: string
  readonly accessToken: string
  readonly refreshToken: string
}

/** Signs a tool in for a person, in a project. */
export async function signInTool(
  gateway: Asked,
  person: Person,
  projectId: string | null,
  clientId = CLIENT_ID,
): Promise<SignedInTool> {
  const { deviceCode, userCode } = await requestCodes(gateway, clientId)
  const approval = { user_code: userCode, project_id: projectId }
  const approved = await person.request('POST', '/v1/device-authorizations/approve', approval)
  expect([approved.status, approved.body]).toEqual([200, approved.body])
  const { status, body } = await poll(gateway, deviceCode, clientId)
  expect([status, body]).toEqual([200, body])
  return {
    grantId: String(approved.body.grant_id),
    accessToken: String(body.access_token),
    refreshToken: String(body.refresh_token),
  }
}
