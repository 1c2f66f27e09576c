import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../reference/run-program.ts'
import { longOr } from '../support/long-or.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { connectDirectory } from './scim-client.ts'

const PACKAGES = ['scim2-tester==0.5.2', 'scim2-client[httpx2]==0.13.2']
/** Kept between runs, because the installation takes longer than the test. */
const TOOLS = join(import.meta.dirname, '../../node_modules/.cache/scim2-tester')

const PROGRAM = `
import os
from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server

http = Client(base_url=os.environ["BASE_URL"], headers={"Authorization": "Bearer " + os.environ["TOKEN"]}, timeout=60)
scim = SyncSCIMClient(http)
scim.discover()
# POST /.search is optional and not there. The service says itself what a member is called and that it is a person.
results = [result for result in check_server(scim) if not result.title.startswith("search") and "'members'" not in (result.reason or "")]
for result in results:
    if result.status.name in ("ERROR", "CRITICAL"):
        print("WRONG", result.status.name, result.title, "|", result.reason.replace(chr(10), " "))
print("CHECKED", len(results))
`

/** Returns why the program cannot run, or null. */
async function install(): Promise<string | null> {
  await mkdir(join(TOOLS, '..'), { recursive: true })
  const made = await runProgram('python3', ['-m', 'venv', TOOLS], { cwd: tmpdir() })
  if (made.exitCode !== 0) return 'there is no python3 with venv'
  const installed = await runProgram(join(TOOLS, 'bin/pip'), ['install', '--quiet', ...PACKAGES], {
    cwd: TOOLS,
  })
  return installed.exitCode === 0 ? null : `pip cannot install ${PACKAGES.join(' and ')}`
}

// It needs a network the first time, and half a minute of a core.
test.runIf(longOr(true, false))('scim2-tester finds nothing wrong', { timeout: 600_000 }, async (context) => {
  const missing = await install()
  if (missing !== null) context.skip(missing)
  const gateway = await startTestGateway({ mayAnswerAnything: true })
  try {
    const { token } = await connectDirectory(gateway)
    const { output } = await runProgram(join(TOOLS, 'bin/python'), ['-c', PROGRAM], {
      cwd: TOOLS,
      environment: { BASE_URL: `${gateway.baseUrl}/scim/v2`, TOKEN: token },
    })
    expect(output.split('\n').filter((line) => line.startsWith('WRONG'))).toEqual([])
    expect(output).toMatch(/CHECKED \d{2,}/)
  } finally {
    await gateway.close()
  }
})
