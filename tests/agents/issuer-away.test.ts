import { expect, test } from 'vitest'
import { createProject } from '../organization/join-account.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startIssuerServer } from './issuer-server.ts'

test('an issuer that is away is told as such, and asks for patience', async () => {
  const away = await startIssuerServer()
  const gateway = await startTestGateway({ settings: { PARKWAY_OUTBOUND_ALLOW: away.host } })
  try {
    const at = `/v1/organization/projects/${await createProject(gateway)}`
    const owner = await gateway.request('POST', `${at}/service_accounts`, {
      body: { name: 'CI', create_service_account_only: true },
    })
    const rules = [{ claims: { repository: 'acme/site' }, service_account_id: owner.body.id }]
    const { body: issuer } = await gateway.request('POST', `${at}/trusted_issuers`, {
      body: { name: 'CI', issuer: away.url, audience: 'here', rules },
    })
    away.setAway(true)
    const answer = await fetch(`${gateway.baseUrl}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        audience: issuer.id,
        subject_token: await away.sign({ aud: 'here', sub: 'x', repository: 'acme/site' }),
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      }),
    })
    expect([answer.status, answer.headers.get('retry-after') !== null, await answer.json()]).toEqual([
      503,
      true,
      { error: 'temporarily_unavailable', error_description: expect.any(String) },
    ])
  } finally {
    await gateway.close()
    await away.close()
  }
})
