import { ORIGIN } from '../passkeys/passkey-person.ts'
import { createCredential, useCredential } from '../passkeys/software-authenticator.ts'
import type { MakeCall } from './walk-call.ts'

/** Operations with which a person comes in with a passkey. `cookie` is the last one that an answer set. */
export async function walkPasskeys(call: MakeCall, cookie: () => string): Promise<void> {
  const page = { 'sec-fetch-site': 'same-origin', origin: ORIGIN }
  const { code } = await call('POST /v1/organization/invites', {
    body: { email: 'ada@example.com', role: 'reader' },
  })
  await call('POST /v1/invites/read', { key: null, body: { code } })
  const invited = await call('POST /v1/invites/passkey', { key: null, headers: page, body: { code } })
  const laptop = createCredential(invited.public_key, ORIGIN)
  const browser = { ...page, cookie: cookie() }
  await call('POST /v1/invites/accept', {
    key: null,
    headers: browser,
    body: { code, name: 'Ada', passkey: { name: 'Laptop', credential: laptop.credential } },
  })
  const begun = await call('POST /v1/sessions/passkey/options', { key: null, headers: browser })
  const credential = useCredential(laptop.passkey, begun.public_key, ORIGIN)
  await call('POST /v1/sessions/passkey', { key: null, headers: browser, body: { credential } })

  const own = { key: null, headers: { ...page, cookie: cookie() } }
  const asked = await call('POST /v1/sessions/current/confirm/passkey/options', own)
  const proof = useCredential(laptop.passkey, asked.public_key, ORIGIN)
  await call('POST /v1/sessions/current/confirm/passkey', { ...own, body: { credential: proof } })
  const second = await call('POST /v1/passkeys/options', own)
  const phone = createCredential(second.public_key, ORIGIN)
  await call('POST /v1/passkeys', { ...own, body: { name: 'Phone', credential: phone.credential } })
  const { data } = await call('GET /v1/passkeys', own)
  const params = { id: String(data[1].id) }
  await call('PATCH /v1/passkeys/{id}', { ...own, params })
  await call('DELETE /v1/passkeys/{id}', { ...own, params })

  const { data: users } = await call('GET /v1/organization/users', { query: '?emails[]=ada@example.com' })
  const user = { params: { user_id: String(users[0].id) } }
  await call('POST /v1/organization/users/{user_id}/recovery_link', user)
  await call('POST /v1/organization/users/{user_id}/end_sessions', user)
}
