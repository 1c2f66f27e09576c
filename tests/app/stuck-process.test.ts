import { expect, it } from 'vitest'
import { loadConfig } from '../../src/app/settings/config.ts'
import { GatewayProcess } from '../../src/app/process/gateway-process.ts'
import { silentLogger } from '../../src/kernel/logger.ts'

it('a process that is stuck while it starts is ended, so that another one replaces it', async () => {
  const member = new GatewayProcess({
    readMetrics: () => Promise.reject(new Error('not asked for')),
    onFirstKey: () => {},
    logger: silentLogger,
    silenceMsMax: 300,
  })
  process.kill(member.pid ?? 0, 'SIGSTOP')
  const config = loadConfig({ environment: { PORT: '0' }, directory: '/nowhere' })
  await expect(member.start({ config, connectionString: 'postgres://nowhere' })).rejects.toThrow(
    'has been silent for 0.3 s',
  )
  expect(await member.ended).toEqual({ code: null, signal: 'SIGKILL' })
})
