import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Contestant } from './contestant.ts'

const benchDirectory = fileURLToPath(new URL('..', import.meta.url))
const packageDirectory = join(benchDirectory, 'node_modules/@portkey-ai/gateway')
const INSTALL_MS_MAX = 180_000

/** The open-source gateway from npm, on the same Node, without its console and the console's log. */
export const portkey: Contestant = {
  id: 'portkey',
  prepare: async ({ port, upstreamPort, mayInstall, nodeFlags, note }) => {
    const program = join(packageDirectory, 'build/start-server.js')
    if (!existsSync(program) && mayInstall) {
      note('installing the packages of bench/ (Portkey)')
      installPackages()
    }
    if (!existsSync(program)) return { unavailable: 'run `npm ci` in bench/' }
    return {
      version: `@portkey-ai/gateway ${readVersion()}, Node ${process.versions.node}`,
      command: process.execPath,
      arguments: [...nodeFlags, program, `--port=${port}`, '--headless'],
      environment: { NODE_ENV: 'production' },
      requestHeaders: {
        authorization: 'Bearer sk-mock',
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
      },
      startTimeoutMs: 20_000,
    }
  },
}

function installPackages(): void {
  const npm = process.env['npm_execpath']
  const [command, ...leading] = npm === undefined ? ['npm'] : [process.execPath, npm]
  spawnSync(command ?? 'npm', [...leading, 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: benchDirectory,
    stdio: 'ignore',
    timeout: INSTALL_MS_MAX,
  })
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8'))
  const hasVersion = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return hasVersion ? String(manifest.version) : ''
}
