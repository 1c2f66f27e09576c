import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { commandGroup } from '../../command-group.ts'
import { EXIT } from '../../exit-codes.ts'
import { collect } from '../../input/collect.ts'
import { requireConsent } from '../../input/confirm.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { readJsonObject } from '../../input/read-json-object.ts'
import { printable } from '../../output/printable.ts'
import { printTable } from '../../output/tables/print-table.ts'
import { findIssuer, inProject, issuersOf, ofIssuer, type IssuerBody } from './trusted-issuers.ts'

const MINUTE_SECONDS = 60
const PROJECT_HELP = 'the id of the project: proj_…'
const ISSUER_HELP = 'the id of the issuer: issuer_…'

const list = clientCommand({
  name: 'list',
  summary: 'List the issuers whose tokens become tokens of service accounts of a project.',
  example: 'parkway trust list "$PROJECT_ID"',
  define: (command) => command.argument('<project>', PROJECT_HELP),
  async act({ output, isJson, connect, printJsonLines }, _, projectId = '') {
    const issuers = await issuersOf(connect(), projectId)
    if (isJson) return printJsonLines(issuers)
    if (issuers.length === 0) return output.note('No issuer is trusted. Trust one with "parkway trust add".')
    printTable(
      output,
      [
        { title: 'id', of: ({ id }) => id, rank: 2, isId: true },
        { title: 'name', of: ({ name }) => name, rank: 1, isText: true },
        { title: 'rules', of: ({ rules }) => String(rules.length), isNumber: true, rank: 4 },
        { title: 'issuer', of: ({ issuer }) => issuer, rank: 3, isText: true },
      ],
      issuers,
    )
  },
})

const show = clientCommand({
  name: 'show',
  summary: 'Show one issuer with its rules.',
  example: 'parkway trust show "$PROJECT_ID" 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<project>', PROJECT_HELP).argument('<id>', ISSUER_HELP),
  async act({ output, isJson, connect, printJson }, _, projectId = '', id = '') {
    const trusted = await findIssuer(connect(), projectId, id)
    if (isJson) return printJson(trusted)
    const lines: Readonly<Record<string, string>> = {
      id: trusted.id,
      name: trusted.name,
      issuer: trusted.issuer,
      audience: trusted.audience,
      keys: trusted.jwks === null ? 'read from the issuer' : `${trusted.jwks.keys.length} entered`,
      signatures: trusted.algorithms.join(', '),
    }
    for (const [name, value] of Object.entries(lines)) output.line(printable(`${name.padEnd(10)}  ${value}`))
    for (const [index, rule] of trusted.rules.entries()) {
      const claims = Object.entries(rule.claims).map(([claim, value]) => `${claim}=${value}`)
      const once = rule.once ? ', each token once' : ''
      output.line(printable(`rule ${index + 1}      ${claims.join(', ')}`))
      output.line(
        printable(
          `            becomes ${rule.service_account_id} in ${rule.env} for ${rule.lifetime_seconds} s${once}`,
        ),
      )
    }
  },
})

interface AddOptions {
  readonly file?: string
  readonly name?: string
  readonly issuer?: string
  readonly audience?: string
  readonly claim: readonly string[]
  readonly account?: string
  readonly minutes: string
  readonly env?: 'live' | 'prod' | 'staging' | 'test' | 'dev'
  readonly once?: boolean
  readonly jwks?: string
}

const add = clientCommand<AddOptions>({
  name: 'add',
  summary: 'Trust an issuer, by a rule on the claims of its tokens, and print its id.',
  example:
    'parkway trust add "$PROJECT_ID" --issuer https://token.actions.githubusercontent.com --audience https://gateway.example.com --claim repository=acme/site --claim ref=refs/heads/main --account "$ACCOUNT_ID"',
  define: (command) =>
    command
      .argument('<project>', PROJECT_HELP)
      .option('--file <path>', 'all of it as JSON, as the API takes it; "-" for stdin')
      .option('--name <text>', 'a name for people; by default the host of the issuer')
      .option('--issuer <address>', 'exactly as in iss')
      .option('--audience <text>', 'what aud must have')
      .option('--claim <name=value>', 'what the token must have; may be given several times', collect, [])
      .option('--account <id>', 'the service account that it becomes: svc_acct_…')
      .option('--minutes <number>', 'how long the access token lives, up to 60', '15')
      .option('--env <name>', 'live, prod, staging, test or dev; prod by default')
      .option('--once', 'take each token only once')
      .option('--jwks <path>', 'public keys as JSON, for an issuer that the gateway cannot reach'),
  async act({ output, isJson, connect, printJson }, options, projectId = '') {
    const body = options.file === undefined ? await bodyOf(options) : await readJsonObject(options.file)
    const trusted = await connect().call((routes) =>
      routes.POST('/v1/organization/projects/{project_id}/trusted_issuers', {
        ...inProject(projectId),
        // The gateway says what is wrong in a file.
        body: body as IssuerBody,
      }),
    )
    if (isJson) return printJson(trusted)
    output.note(printable(`${trusted.name} is trusted. Machines name this id as the audience:`))
    output.line(printable(trusted.id))
  },
})

const set = clientCommand<{ readonly file: string }>({
  name: 'set',
  summary: 'Change an issuer. Members that the file does not have stay.',
  example:
    'echo \'{"audience": "https://ai.example.com"}\' | parkway trust set "$PROJECT_ID" 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) =>
    command
      .argument('<project>', PROJECT_HELP)
      .argument('<id>', ISSUER_HELP)
      .option('--file <path>', 'what changes, as JSON; "-" for stdin', '-'),
  async act({ output, isJson, connect, printJson }, { file }, projectId = '', id = '') {
    const body = await readJsonObject(file)
    const trusted = await connect().call((routes) =>
      routes.POST('/v1/organization/projects/{project_id}/trusted_issuers/{issuer_id}', {
        ...ofIssuer(projectId, id),
        body,
      }),
    )
    if (isJson) return printJson(trusted)
    output.line(printable(`Changed ${trusted.name}.`))
  },
})

const rm = clientCommand<{ readonly yes?: boolean }>({
  name: 'rm',
  summary: 'Stop trusting an issuer. Its tokens are refused at once.',
  example: 'parkway trust rm --yes "$PROJECT_ID" 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) =>
    command
      .argument('<project>', PROJECT_HELP)
      .argument('<id>', ISSUER_HELP)
      .option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { yes }, projectId = '', id = '') {
    const gateway = connect()
    const { name } = await findIssuer(gateway, projectId, id)
    await requireConsent(printable(`Trust ${name} no longer?`), yes === true)
    const deleted = await gateway.call((routes) =>
      routes.DELETE(
        '/v1/organization/projects/{project_id}/trusted_issuers/{issuer_id}',
        ofIssuer(projectId, id),
      ),
    )
    if (isJson) return printJson(deleted)
    output.line(printable(`${name} is trusted no longer.`))
  },
})

async function bodyOf(options: AddOptions): Promise<IssuerBody> {
  const { issuer, audience, account, jwks, env } = options
  if (issuer === undefined || audience === undefined || account === undefined || options.claim.length === 0)
    throw new CommandFailure(EXIT.usage, 'Give --issuer, --audience, --claim and --account, or --file.')
  return {
    name: options.name ?? (URL.canParse(issuer) ? new URL(issuer).host : issuer),
    issuer,
    audience,
    ...(jwks !== undefined && { jwks: (await readJsonObject(jwks)) as NonNullable<IssuerBody['jwks']> }),
    rules: [
      {
        claims: Object.fromEntries(options.claim.map(parseClaim)),
        service_account_id: account,
        lifetime_seconds: parseWhole('--minutes', options.minutes) * MINUTE_SECONDS,
        ...(env !== undefined && { env }),
        once: options.once === true,
      },
    ],
  }
}

function parseClaim(text: string): [string, string] {
  const [, name, value] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw new CommandFailure(EXIT.usage, `--claim takes name=value, and not "${text}".`)
  return [name, value]
}

export const trust = commandGroup({
  name: 'trust',
  summary: 'Exchange tokens of CI systems and clusters for tokens of service accounts.',
  example: 'parkway trust list "$PROJECT_ID"',
  others: [list, show, add, set, rm],
})
