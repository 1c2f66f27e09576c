import type { Prepare } from './audited-changes.ts'

const TOKENS = '/v1/organization/scim_tokens'

/** Changes of the tokens of directories. */
export const AUDITED_SCIM_CHANGES: Readonly<Record<string, Prepare>> = {
  [`POST ${TOKENS}`]: async () => ({ type: 'scim_token.created', body: { name: 'Okta' } }),
  [`DELETE ${TOKENS}/{token_id}`]: async (gateway) => {
    const { body } = await gateway.request('POST', TOKENS, { body: { name: 'Entra' } })
    return { type: 'scim_token.deleted', params: { token_id: String(body.id) } }
  },
}
