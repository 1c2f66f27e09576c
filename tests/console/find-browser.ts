import { existsSync } from 'node:fs'
import { unpackBrowser, type UnpackedBrowser } from './unpack-browser.ts'

const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Finds a Chromium: the one that npm brought for Linux x64, or one that is installed. Returns null if there is none. */
export async function findBrowser(): Promise<UnpackedBrowser | null> {
  if (process.platform === 'linux' && process.arch === 'x64') return unpackBrowser()
  const installed = INSTALLED.find((path) => existsSync(path))
  return installed === undefined ? null : { executablePath: installed, environment: {} }
}
