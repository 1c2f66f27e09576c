import type { ProviderDraft } from '../../api/identity-providers.ts'

interface ProviderTemplate {
  readonly label: string
  readonly issuer: string
  /** What to know before, in a sentence. */
  readonly hint: string
  readonly settings: Partial<ProviderDraft>
}

const USUAL = { scopes: ['openid', 'email', 'profile'], groups_claim: 'groups', needs_verified_email: true }

/** What is usual for the directories of companies. */
export const PROVIDER_TEMPLATES = {
  keycloak: {
    label: 'Keycloak',
    issuer: 'https://login.example.com/realms/company',
    hint: 'A confidential client with the standard flow. Groups need the mapper “Group Membership”, without the full path.',
    settings: USUAL,
  },
  entra: {
    label: 'Microsoft Entra ID',
    issuer: 'https://login.microsoftonline.com/{tenant id}/v2.0',
    hint: 'Use your tenant id, never `common`. Entra does not verify addresses, so name your domains. Add the optional claims `email` and `auth_time`.',
    settings: { ...USUAL, needs_verified_email: false },
  },
  okta: {
    label: 'Okta',
    issuer: 'https://company.okta.com',
    hint: 'A web application with the authorization code grant, and a groups claim in its ID token.',
    settings: { ...USUAL, scopes: ['openid', 'email', 'profile', 'groups'] },
  },
  google: {
    label: 'Google Workspace',
    issuer: 'https://accounts.google.com',
    hint: 'Name your domains: everybody has a Google account. Google sends no groups.',
    settings: { ...USUAL, groups_claim: null },
  },
  authentik: {
    label: 'Authentik',
    issuer: 'https://auth.example.com/application/o/parkway/',
    hint: 'An OAuth2/OpenID provider, confidential. The issuer ends with a slash.',
    settings: USUAL,
  },
  dex: {
    label: 'Dex',
    issuer: 'https://dex.example.com',
    hint: 'A static client with a secret.',
    settings: { ...USUAL, scopes: ['openid', 'email', 'profile', 'groups'] },
  },
  other: {
    label: 'Another OpenID Connect provider',
    issuer: 'https://login.example.com',
    hint: 'Any provider with discovery, the authorization code flow and signed ID tokens.',
    settings: USUAL,
  },
} as const satisfies Record<string, ProviderTemplate>

export type TemplateName = keyof typeof PROVIDER_TEMPLATES
