import { insertIdentity } from '../directory/insert-identity.ts'
import type { Prepare } from './audited-changes.ts'
import { joinAccount } from './join-account.ts'

const TOKENS = '/v1/organization/scim_tokens'

/** Changes of the tokens of directories, and of how people sign in. */
export const AUDITED_SCIM_CHANGES: Readonly<Record<string, Prepare>> = {
  [`POST ${TOKENS}`]: async () => ({ type: 'scim_token.created', body: { name: 'Okta' } }),
  [`DELETE ${TOKENS}/{token_id}`]: async (gateway) => {
    const { body } = await gateway.request('POST', TOKENS, { body: { name: 'Entra' } })
    return { type: 'scim_token.deleted', params: { token_id: String(body.id) } }
  },
  'POST /v1/organization/sign_in_policy': async () => ({
    type: 'sign_in_policy.updated',
    body: { methods: ['directory', 'passkey', 'key'] },
    resourceId: null,
  }),
  'DELETE /v1/organization/users/{user_id}/identities/{id}': async (gateway) => {
    const { id: userId } = await joinAccount(gateway, { email: 'identified@example.com' })
    const id = await insertIdentity(gateway, userId, 'Acme')
    return { type: 'identity.deleted', params: { user_id: userId, id: `${id}?even_if_last=true` } }
  },
}
