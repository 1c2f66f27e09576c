import { expect, it } from 'vitest'
import { createDnsResolver, resolveBySystem } from './resolve-host.ts'

it.each(['localhost', 'LOCALHOST', 'localhost.', 'app.localhost'])(
  '%s is this machine, whichever resolver is used',
  async (name) => {
    expect(await createDnsResolver()(name)).toContain('127.0.0.1')
  },
)

it('the system resolver uses its hosts file', async () => {
  expect(await resolveBySystem('localhost')).toEqual(
    expect.arrayContaining([expect.stringMatching(/^(127\.|::1$)/)]),
  )
})
