import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { longOr } from '../support/long-or.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { runProgram } from './run-program.ts'
import { writeDocument } from './write-document.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const GENERATOR = 'openapi-python-client==0.29.1'
/** Kept between runs, because the installation takes longer than the test. */
const TOOLS = join(import.meta.dirname, '../../node_modules/.cache/python-client')

const PROGRAM = `
import json, os
from made.client import AuthenticatedClient
from made.api.models import get_models
from made.api.chat import post_chat_completions
from made.models import PostChatCompletionsBody

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"])
models = get_models.sync_detailed(client=client)
body = PostChatCompletionsBody.from_dict({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]})
chat = post_chat_completions.sync_detailed(client=client, body=body)
print(json.dumps([int(models.status_code), len(models.parsed.data) > 10, int(chat.status_code), chat.parsed.object_, chat.parsed.usage.cost_usd > 0]))
`

let gateway: TestGateway
let directory: string
let missing: string | null

beforeAll(async () => {
  gateway = await startTestGateway()
  directory = await mkdtemp(join(tmpdir(), 'parkway-client-'))
  missing = await installGenerator()
}, 900_000)

afterAll(async () => {
  await gateway.close()
  await removeDirectory(directory)
})

// The generator takes half a minute of a core. `npm test` has the generated TypeScript client.
test.runIf(longOr(true, false))(
  'a generated Python client gets typed answers',
  { timeout: 600_000 },
  async (context) => {
    if (missing !== null) context.skip(missing)
    const document = await writeDocument(gateway, directory)
    const made = await runProgram(
      join(TOOLS, 'bin/openapi-python-client'),
      ['generate', '--path', document, '--output-path', 'made', '--meta', 'none'],
      { cwd: directory },
    )
    expect(made).toMatchObject({ exitCode: 0 })
    expect(made.output).not.toContain('WARNING')
    await writeFile(join(directory, 'program.py'), PROGRAM)
    const { exitCode, output } = await runProgram(join(TOOLS, 'bin/python'), ['program.py'], {
      cwd: directory,
      environment: { BASE_URL: gateway.baseUrl, API_KEY: gateway.key },
    })
    expect([exitCode, output.trim()]).toEqual([0, '[200, true, 200, "chat.completion", true]'])
  },
)

/** Installs the generator if necessary. Returns why that failed, or null if it is available. */
async function installGenerator(): Promise<string | null> {
  await mkdir(TOOLS, { recursive: true })
  const inPlace = await runProgram(join(TOOLS, 'bin/openapi-python-client'), ['--version'], { cwd: TOOLS })
  if (inPlace.exitCode === 0) return null
  const made = await runProgram('python3', ['-m', 'venv', TOOLS], { cwd: TOOLS })
  if (made.exitCode !== 0) return 'Python 3 with venv is not installed'
  const got = await runProgram(join(TOOLS, 'bin/pip'), ['install', '--quiet', GENERATOR, 'ruff'], {
    cwd: TOOLS,
  })
  return got.exitCode === 0 ? null : 'the generator could not be installed from the package index'
}
