import { joinAccount } from '../organization/join-account.ts'
import { chmod, cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { deploy, startGpuGateway, waitForStatus } from '../deployments/deploy.ts'
import { click } from '../payments/open-checkout.ts'
import { eventually } from '../support/eventually.ts'
import { longOr } from '../support/long-or.ts'
import { comparisonsOf } from './comparisons-of.ts'
import { DOCUMENTED_COMMANDS, wordsOf } from './documented-commands.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'
import { completeBatch, makeBatch } from './make-batch.ts'
import { NOT_RUN } from './not-run-examples.ts'
import { runInShell } from './run-in-shell.ts'
import { signIn } from './run-parkway.ts'
import { OUR_LLAMA, writeExampleFiles } from './example-files.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** The id in the examples of the help. */
const SOME_ID = '01a1e900-0fc9-7eff-b14c-dd4471e0969d'
const SOME_REQUEST = `req_${SOME_ID.replaceAll('-', '')}`
const SOME_FILE = `file-${SOME_ID.replaceAll('-', '')}`
const SOME_BATCH = `batch_${SOME_ID.replaceAll('-', '')}`

/** Otherwise only those with pipes, redirections or substitutions, because a shell and a program for each takes long. */
const EVERY_ONE_IN_A_SHELL = longOr(true, false)
const NEEDS_SHELL = /[|<>]|\$\(/

const { gateway, home } = await startGatewayAndHome(() =>
  startGpuGateway({ PARKWAY_BOOTSTRAP_CREDIT_USD: '1000' }),
)

beforeAll(async () => {
  const directory = join(home.directory, 'files')
  await mkdir(join(home.directory, 'bin'))
  await mkdir(join(directory, 'results'), { recursive: true })
  const program = join(home.directory, 'bin', 'parkway')
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'cli/main.ts')}' "$@"\n`)
  await chmod(program, 0o755)
  await writeExampleFiles(directory, home)
  await runInShell(home, ['git', 'init', '-q'], { directory })
})

/** What an example needs: an id instead of the one in the help, and variables. */
interface Preparation {
  readonly id?: string
  readonly variables?: Record<string, string>
  /** Called with what the example prints. */
  readonly onOutput?: (text: string) => void
}

const post = async (path: string, body: object = {}) => (await gateway.request('POST', path, { body })).body
const createAccount = async (): Promise<Preparation> => {
  const { id } = await post('/v1/admin/accounts', { name: 'Acme' })
  return { variables: { ACCOUNT_ID: id } }
}
const makeImage = async (): Promise<Preparation> => ({
  id: (await home.run(['image', '--no-wait', 'A tree'])).stdout.trim(),
})
const deployOne = async (): Promise<Preparation> => {
  const id = await deploy(gateway)
  await waitForStatus(gateway, id, 'running')
  return { id }
}

const { compareTwo, compareTwice, compareScored } = comparisonsOf(home)
const makeDataset = async (): Promise<Preparation> => ({
  id: (await post('/v1/compare/datasets', { name: 'one', prompts: ['Why?'] })).id,
})

const storeFile = async (): Promise<Preparation> => ({
  id: (await post('/v1/files', { purpose: 'user_data', filename: 'note.txt', file: 'SGVsbG8=' })).id,
})

/** The example of adding one may have been run before. */
const addLlama = async (): Promise<Preparation> => {
  await gateway.request('POST', '/v1/admin/models', { body: OUR_LLAMA })
  return {}
}

const makeProject = async (): Promise<Preparation> => ({
  id: (await post('/v1/organization/projects', { name: 'Search' })).id,
})
const makeInvite = async (): Promise<Preparation> => ({
  id: (await post('/v1/organization/invites', { email: 'alan@example.com', role: 'reader' })).id,
})
const makeMember = async (): Promise<Preparation> => {
  const email = `${Math.trunc(performance.now() * 1000)}@example.com`
  return { id: (await joinAccount(gateway, { email })).id }
}
const makeGroup = async (): Promise<Preparation> => {
  const name = `Engineers ${Math.trunc(performance.now() * 1000)}`
  const { id } = await post('/v1/organization/groups', { name })
  const member = (await makeMember()).id ?? ''
  return { id, variables: { USER_ID: member } }
}
const makeFullGroup = async (): Promise<Preparation> => {
  const made = await makeGroup()
  await post(`/v1/organization/groups/${made.id}/users`, { user_id: made.variables?.['USER_ID'] })
  return made
}
const makeBudget = async (): Promise<Preparation> => ({
  id: (
    await post('/v1/organization/budgets', {
      subject: { type: 'project', id: (await makeProject()).id },
      window: 'month',
      limit_usd: 100,
    })
  ).id,
})

const makeBudgetRequest = async (): Promise<Preparation> => ({
  id: (
    await post('/v1/organization/budget_requests', {
      budget_id: (await makeBudget()).id,
      amount_usd: 5,
      until: new Date(Date.now() + 86_400_000).toISOString(),
      reason: 'A test.',
    })
  ).id,
})
const makeRole = async (): Promise<Preparation> => {
  const role_name = `Role ${Math.trunc(performance.now() * 1000)}`
  const { id } = await post('/v1/organization/roles', { role_name, permissions: ['usage.read'] })
  return { id, variables: { USER_ID: (await makeMember()).id ?? '' } }
}
const makeGivenRole = async (): Promise<Preparation> => {
  const made = await makeRole()
  await post(`/v1/organization/users/${made.variables?.['USER_ID']}/roles`, { role_id: made.id })
  return made
}

const makeScimToken = async (): Promise<Preparation> => ({
  id: (await post('/v1/organization/scim_tokens', { name: 'Entra' })).id,
})
const makeServiceAccount = async (): Promise<Preparation> => {
  const { id: project = '' } = await makeProject()
  const made = { name: 'CI', create_service_account_only: true }
  const { id } = await post(`/v1/organization/projects/${project}/service_accounts`, made)
  return { variables: { PROJECT_ID: project, ACCOUNT_ID: id } }
}
const trustIssuer = async (): Promise<Preparation> => {
  const { variables = {} } = await makeServiceAccount()
  const { id } = await post(`/v1/organization/projects/${variables['PROJECT_ID']}/trusted_issuers`, {
    name: 'GitHub Actions',
    issuer: 'https://token.actions.githubusercontent.com',
    audience: 'https://ai.example.com',
    rules: [{ claims: { repository: 'acme/site' }, service_account_id: variables['ACCOUNT_ID'] }],
  })
  return { id, variables }
}
const setSettings = async (): Promise<Preparation> => ({
  id: (await post('/v1/organization/managed_settings', { settings: {} })).id,
})

/** By the words of the command. */
const PREPARATIONS: Readonly<Record<string, () => Promise<Preparation>>> = {
  'parkway login': async () => ({ variables: { PARKWAY_API_KEY: gateway.key } }),
  'parkway logout': () => signIn(home, gateway, ['--profile', 'work']).then(() => ({})),
  'parkway profiles': () => signIn(home, gateway, ['--profile', 'work']).then(() => ({})),
  'parkway keys rotate': async () => ({ id: (await post('/v1/tenants/me/api-keys')).id }),
  'parkway keys revoke': async () => ({ id: (await post('/v1/tenants/me/api-keys')).id }),
  'parkway redeem': () =>
    post('/v1/admin/promo-codes', { amount_usd: 1, code: 'WELCOME-2030' }).then(() => ({})),
  'parkway topup': async () => ({
    onOutput: (text) => {
      const url = /http:\S+/.exec(text)?.[0]
      if (url !== undefined) void click(url, 'pay')
    },
  }),
  'parkway projects show': makeProject,
  'parkway projects rename': makeProject,
  'parkway projects archive': makeProject,
  'parkway members show': makeMember,
  'parkway members role': makeMember,
  'parkway members remove': makeMember,
  'parkway invite revoke': makeInvite,
  'parkway groups members': makeGroup,
  'parkway groups add': makeGroup,
  'parkway groups remove': makeFullGroup,
  'parkway groups rm': makeGroup,
  'parkway budgets set': makeBudget,
  'parkway budgets raise': makeBudget,
  'parkway budgets rm': makeBudget,
  'parkway budgets request': makeBudget,
  'parkway budgets approve': makeBudgetRequest,
  'parkway budgets refuse': makeBudgetRequest,
  'parkway roles change': makeRole,
  'parkway roles rm': makeRole,
  'parkway roles give': makeRole,
  'parkway roles take': makeGivenRole,
  'parkway scim rm': makeScimToken,
  'parkway admin models set': addLlama,
  'parkway admin models rm': addLlama,
  'parkway admin prices withdraw': async () => {
    const price = { unit: 'token', input_usd_per_1m: 3, output_usd_per_1m: 15 }
    const from = new Date(Date.now() + 172_800_000).toISOString()
    const { id } = await post('/v1/admin/models/gpt-5.4/prices', { price, effective_from: from })
    return { variables: { PRICE_VERSION: id } }
  },
  'parkway admin prices adjust end': async () => {
    const { id } = await post('/v1/admin/price_adjustments', { model: 'gpt-5.4', percent: 1 })
    return { variables: { ADJUSTMENT_ID: id } }
  },
  'parkway trust': makeServiceAccount,
  'parkway trust list': makeServiceAccount,
  'parkway trust show': trustIssuer,
  'parkway trust add': makeServiceAccount,
  'parkway trust set': trustIssuer,
  'parkway trust rm': trustIssuer,
  'parkway managed-settings show': setSettings,
  'parkway managed-settings rm': setSettings,
  'parkway managed-settings preview': async () => ({
    variables: { USER_ID: (await makeMember()).id ?? '' },
  }),
  'parkway logs show': async () => {
    const { headers } = await gateway.request('POST', '/v1/embeddings', {
      body: { model: 'text-embedding-3-small', input: 'tea' },
    })
    return { id: headers.get('x-request-id') ?? '' }
  },
  'parkway tasks show': makeImage,
  'parkway tasks follow': makeImage,
  'parkway tasks download': async () => {
    const { id = '' } = await makeImage()
    await eventually(async () => {
      expect((await gateway.request('GET', `/v1/tasks/${id}`)).body.status).toBe('completed')
    })
    return { id }
  },
  'parkway tasks cancel': async () => ({
    id: (await home.run(['music', '--no-wait', '[[sandbox:hang]] rain'])).stdout.trim(),
  }),
  'parkway batch watch': async () => ({ id: await makeBatch(gateway, 'Hi') }),
  'parkway batch results': async () => ({ id: await completeBatch(gateway) }),
  'parkway batch retry': async () => ({
    id: await completeBatch(gateway, '[[sandbox:error status=400 code=invalid_value]]'),
  }),
  'parkway batch cancel': async () => ({ id: await makeBatch(gateway, '[[sandbox:latency ms=3000]] Hi') }),
  'parkway files get': storeFile,
  'parkway files download': storeFile,
  'parkway files delete': storeFile,
  'parkway datasets from-batch': async () => ({ id: await completeBatch(gateway) }),
  'parkway compare show': compareTwo,
  'parkway compare vote': compareTwo,
  'parkway compare export': compareTwo,
  'parkway compare diff': compareTwice,
  'parkway datasets from-run': compareScored,
  'parkway datasets show': makeDataset,
  'parkway datasets rm': makeDataset,
  'parkway deploy show': deployOne,
  'parkway deploy start': deployOne,
  'parkway deploy stop': deployOne,
  'parkway deploy rm': deployOne,
  'parkway deploy events': deployOne,
  'parkway deploy logs': deployOne,
  'parkway deploy metrics': deployOne,
  'parkway deploy billing': deployOne,
  'parkway admin accounts show': createAccount,
  'parkway admin accounts suspend': createAccount,
  'parkway admin accounts activate': createAccount,
  'parkway admin credit': createAccount,
  'parkway admin promo disable': async () => ({
    variables: { PROMO_ID: (await post('/v1/admin/promo-codes', { amount_usd: 1 })).id },
  }),
}

test('every command has an example', () => {
  expect(DOCUMENTED_COMMANDS.length).toBeGreaterThan(50)
  expect(DOCUMENTED_COMMANDS.filter(([, example]) => example === '').map(([name]) => name)).toEqual([])
})

test.each(DOCUMENTED_COMMANDS.filter(([name]) => NOT_RUN[name] === undefined))(
  'the example of %s works',
  async (name, example) => {
    const { id = SOME_ID, ...others } = (await PREPARATIONS[name]?.()) ?? {}
    const directory = await mkdtemp(join(home.directory, 'work-'))
    await cp(join(home.directory, 'files'), directory, { recursive: true })
    const line = example
      .replaceAll(SOME_REQUEST, id)
      .replaceAll(SOME_BATCH, id)
      .replaceAll(SOME_FILE, id)
      .replaceAll(SOME_ID, id)
      .replaceAll('https://gateway.example.com', gateway.baseUrl)
    const { code, stderr } =
      NEEDS_SHELL.test(line) || others.onOutput !== undefined || EVERY_ONE_IN_A_SHELL
        ? await runInShell(home, ['bash', '-c', `set -o pipefail; ${line}`], { directory, ...others })
        : await home.run(
            wordsOf(line, (variable) => others.variables?.[variable] ?? ''),
            { directory },
          )
    expect([line, code, code === 0 ? '' : stderr]).toEqual([line, 0, ''])
    // The examples share one home: the login of one must not be lost by the logout of another.
    await signIn(home, gateway)
    for (const { id: deployment } of (await gateway.request('GET', '/v1/deployments?limit=100')).body.data)
      await gateway.request('DELETE', `/v1/deployments/${deployment}`)
  },
)
