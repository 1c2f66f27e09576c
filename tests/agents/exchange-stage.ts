import { expect } from 'vitest'
import { createProject } from '../organization/join-account.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startIssuerServer } from './issuer-server.ts'

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'
const JWT = 'urn:ietf:params:oauth:token-type:jwt'
export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
export const AUDIENCE = 'https://gateway.example.com'

/** The claims of a job in GitHub Actions. */
export const job = (members: object = {}) => ({
  aud: AUDIENCE,
  sub: 'repo:acme/site:environment:production',
  repository: 'acme/site',
  repository_owner: 'acme',
  ref: 'refs/heads/main',
  ref_type: 'branch',
  environment: 'production',
  job_workflow_ref: 'acme/site/.github/workflows/deploy.yml@refs/heads/main',
  jti: `job-${Math.floor(performance.now() * 1e6)}`,
  ...members,
})

export type ExchangeStage = Awaited<ReturnType<typeof startExchangeStage>>

/** Starts a gateway with a project that has a service account, and an issuer that the project can trust. */
export async function startExchangeStage() {
  const actions = await startIssuerServer()
  const gateway = await startTestGateway({ settings: { PARKWAY_OUTBOUND_ALLOW: actions.host } })
  const projectId = await createProject(gateway)

  async function createServiceAccount(project: string, key = gateway.key): Promise<string> {
    const at = `/v1/organization/projects/${project}/service_accounts`
    const { body } = await gateway.request('POST', at, {
      key,
      body: { name: 'CI', create_service_account_only: true },
    })
    return String(body.id)
  }

  const issuersOf = (project = projectId) => `/v1/organization/projects/${project}/trusted_issuers`

  const draft = (members: object = {}): Record<string, unknown> => ({
    name: 'GitHub Actions',
    issuer: actions.url,
    audience: AUDIENCE,
    rules: [
      {
        claims: { repository: 'acme/site', ref: 'refs/heads/main', environment: 'production' },
        service_account_id: serviceAccountId,
        lifetime_seconds: 600,
      },
    ],
    ...members,
  })

  async function trust(
    members: object = {},
    { project = projectId, key = gateway.key } = {},
  ): Promise<string> {
    const { status, body } = await gateway.request('POST', issuersOf(project), { key, body: draft(members) })
    expect([status, body]).toEqual([200, body])
    return String(body.id)
  }

  async function exchange(audience: string, subjectToken: string, members: Record<string, string> = {}) {
    const answer = await fetch(`${gateway.baseUrl}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: GRANT,
        audience,
        subject_token: subjectToken,
        subject_token_type: JWT,
        ...members,
      }),
    })
    const body: Record<string, string> = Object(await answer.json())
    return { status: answer.status, body, headers: answer.headers }
  }

  const permissions = (token: string) => gateway.request('GET', '/v1/tenants/me/permissions', { key: token })

  async function expectRefused(audience: string, token: string): Promise<void> {
    const { status, body } = await exchange(audience, token)
    expect([status, body]).toEqual([
      400,
      {
        error: 'invalid_grant',
        error_description: expect.stringContaining('is not one that is trusted here, or no rule fits'),
      },
    ])
  }

  const serviceAccountId = await createServiceAccount(projectId)
  const forgetIssuers = async (): Promise<void> => {
    const { body } = await gateway.request('GET', issuersOf())
    for (const { id } of body.data) await gateway.request('DELETE', `${issuersOf()}/${id}`)
  }
  return {
    actions,
    gateway,
    projectId,
    serviceAccountId,
    createServiceAccount,
    issuersOf,
    draft,
    trust,
    exchange,
    permissions,
    expectRefused,
    forgetIssuers,
    close: async (): Promise<void> => {
      await gateway.close()
      await actions.close()
    },
  }
}
