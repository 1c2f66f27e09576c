import type { TrustedIssuer } from '../../api/trusted-issuers.ts'

interface ExchangeExample {
  readonly label: string
  readonly language: string
  readonly code: string
}

const GITHUB = 'https://token.actions.githubusercontent.com'

/** How a machine with a token of the issuer gets a token of the gateway. */
export function examplesOf({ id, issuer, audience, rules }: TrustedIssuer): readonly ExchangeExample[] {
  if (issuer === GITHUB)
    return [{ label: 'In the workflow', language: 'yaml', code: githubJob(id, audience) }]
  if (rules.some(({ claims }) => Object.keys(claims).some((name) => name.startsWith('project_'))))
    return [{ label: 'In .gitlab-ci.yml', language: 'yaml', code: gitlabJob(id, audience) }]
  if (rules.some(({ claims }) => isOfCluster(claims)))
    return [
      { label: 'In the pod', language: 'yaml', code: kubernetesPod(audience) },
      { label: 'In the container', language: 'bash', code: exchange(id, '$(cat /var/run/gateway/token)') },
    ]
  return [{ label: 'In the machine', language: 'bash', code: exchange(id, '$JWT') }]
}

function isOfCluster(claims: Readonly<Record<string, string>>): boolean {
  return (
    claims['sub']?.startsWith('system:serviceaccount:') === true ||
    Object.keys(claims).some((name) => name.startsWith('kubernetes.io/'))
  )
}

function exchange(id: string, token: string): string {
  return [
    `curl -sf ${location.origin}/oauth/token \\`,
    '  -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange \\',
    '  -d subject_token_type=urn:ietf:params:oauth:token-type:jwt \\',
    `  -d audience=${id} -d "subject_token=${token}"`,
  ].join('\n')
}

function indented(text: string, spaces: number): string {
  return text.replaceAll(/^/gm, ' '.repeat(spaces))
}

function githubJob(id: string, audience: string): string {
  return `permissions:
  id-token: write
steps:
  - run: |
      JWT=$(curl -sf -H "Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" \\
        "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=${encodeURIComponent(audience)}" | jq -r .value)
      TOKEN=$(${indented(exchange(id, '$JWT'), 8).trimStart()} | jq -r .access_token)
      echo "::add-mask::$TOKEN"
      echo "OPENAI_API_KEY=$TOKEN" >> "$GITHUB_ENV"
      echo "OPENAI_BASE_URL=${location.origin}/v1" >> "$GITHUB_ENV"`
}

function gitlabJob(id: string, audience: string): string {
  return `deploy:
  id_tokens:
    JWT:
      aud: ${audience}
  script:
    - |
      TOKEN=$(${indented(exchange(id, '$JWT'), 8).trimStart()} | jq -r .access_token)`
}

function kubernetesPod(audience: string): string {
  return `containers:
  - volumeMounts: [{name: gateway-token, mountPath: /var/run/gateway}]
volumes:
  - name: gateway-token
    projected:
      sources:
        - serviceAccountToken: {audience: ${JSON.stringify(audience)}, path: token}`
}
