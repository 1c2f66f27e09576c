import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startScriptedServer, type ScriptedServer } from '../upstreams/scripted-server.ts'
import { startKafkaBroker, type KafkaBroker } from './kafka-broker.ts'

const SECRET = `whsec_${Buffer.from('a secret of the test').toString('base64')}`
const CHATS = 60
const AT_ONCE = 6

let hook: ScriptedServer
let kafka: KafkaBroker
let gateway: TestGateway

beforeAll(async () => {
  hook = await startScriptedServer({ status: 200, chunks: [], ending: 'hang' })
  kafka = await startKafkaBroker()
  await kafka.stop()
  gateway = await startTestGateway({
    settings: {
      PARKWAY_EXPORTS: JSON.stringify({
        hanging: { kind: 'webhook', url: `${hook.baseUrl}/`, secret: SECRET },
        away: { kind: 'kafka', brokers: [kafka.address], topic: 'requests' },
      }),
    },
  })
})
afterAll(async () => {
  await gateway.close()
  await hook.close()
})

const readSinks = async () => (await gateway.request('GET', '/v1/admin/exports')).body.data

test('requests are answered while every sink hangs or is away', async () => {
  await eventually(async () => {
    for (const { status } of await readSinks()) expect(status).not.toBe('waiting')
  })
  let left = CHATS
  const statuses: number[] = []
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) {
        const { status } = await gateway.request('POST', '/v1/chat/completions', {
          body: { model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'hello' }] },
        })
        statuses.push(status)
      }
    }),
  )
  expect(statuses).toEqual(Array.from({ length: CHATS }, () => 200))
  await eventually(async () => {
    const [away, hanging] = await readSinks()
    expect(away).toMatchObject({ name: 'away', status: 'failing', sent: 0, last_error: expect.any(String) })
    expect(hanging).toMatchObject({ name: 'hanging', sent: 0 })
    for (const { lag_requests: lag } of [away, hanging]) expect(lag).toBeGreaterThanOrEqual(CHATS)
  })
  const metrics: string = (await gateway.request('GET', '/metrics')).body
  expect(metrics).toMatch(/parkway_database_pool_waiting 0/)
  expect(metrics).toMatch(/parkway_export_failing\{sink="away"\} [1-9]/)
  const { body } = await gateway.request('GET', '/v1/admin/doctor')
  expect(body.data.map(({ subject }: { subject: string }) => subject)).toContain('away')
})
