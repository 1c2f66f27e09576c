import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'

const document = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8')

test('the document has every metric of the gateway, and no other', async () => {
  const gateway = await startTestGateway()
  try {
    const { body } = await gateway.request('GET', '/metrics', { key: null })
    const told = [...String(body).matchAll(/^# TYPE (parkway_\w+) /gm)].map(([, name = '']) => name)
    const rows = document.split('\n').filter((line) => line.startsWith('| `parkway_'))
    const named = rows.flatMap((row) => [...row.matchAll(/`(parkway_\w+)`/g)].map(([, name = '']) => name))
    expect(told.length).toBeGreaterThan(15)
    expect(new Set(named)).toEqual(new Set(told))
  } finally {
    await gateway.close()
  }
})
