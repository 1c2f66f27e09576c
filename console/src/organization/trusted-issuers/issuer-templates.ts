import { newRule, type IssuerForm } from './issuer-form.ts'

interface IssuerTemplate {
  readonly label: string
  /** What to know before, in a sentence or two. */
  readonly hint: string
  readonly name: string
  readonly issuer: string
  readonly claims: readonly (readonly [string, string])[]
}

/** What is usual for the systems that give their jobs signed tokens. */
export const ISSUER_TEMPLATES = {
  github: {
    label: 'GitHub Actions',
    hint: 'Jobs need “permissions: id-token: write”. Name the repository, and the branch or the environment that may deploy.',
    name: 'GitHub Actions',
    issuer: 'https://token.actions.githubusercontent.com',
    claims: [
      ['repository', 'owner/name'],
      ['ref', 'refs/heads/main'],
    ],
  },
  kubernetes: {
    label: 'Kubernetes',
    hint: 'The issuer is what the API server was started with. If the gateway cannot reach it, enter what “kubectl get --raw /openid/v1/jwks” prints as its keys.',
    name: 'Kubernetes',
    issuer: 'https://kubernetes.default.svc.cluster.local',
    claims: [['sub', 'system:serviceaccount:namespace:name']],
  },
  gitlab: {
    label: 'GitLab CI',
    hint: 'Jobs need “id_tokens” with the audience below. Use the address of your own GitLab if you have one.',
    name: 'GitLab CI',
    issuer: 'https://gitlab.com',
    claims: [
      ['project_path', 'group/project'],
      ['ref_type', 'branch'],
      ['ref', 'main'],
    ],
  },
  other: {
    label: 'Another issuer',
    hint: 'Any issuer of signed JWTs with OpenID Connect discovery, or with keys that you enter.',
    name: '',
    issuer: '',
    claims: [['sub', '']],
  },
} as const satisfies Record<string, IssuerTemplate>

export type TemplateName = keyof typeof ISSUER_TEMPLATES

export function formOfTemplate(kind: TemplateName, serviceAccountId: string): IssuerForm {
  const { name, issuer, claims } = ISSUER_TEMPLATES[kind]
  return {
    name,
    issuer,
    audience: location.origin,
    algorithms: ['RS256', 'ES256'],
    jwks: '',
    rules: [newRule(claims, serviceAccountId)],
  }
}
