import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { expect } from 'vitest'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { findBrowser } from './find-browser.ts'

const found = await findBrowser()

/** Why tests in the browser are skipped, or null. `.ci/run` does not allow it. */
export const NO_BROWSER =
  found === null ? 'no Chromium: install the package chromium to run the tests of the console' : null

if (NO_BROWSER !== null && process.env['PARKWAY_TEST_BROWSER'] === 'required') throw new Error(NO_BROWSER)
// oxlint-disable-next-line no-console -- whoever runs the tests must see what was not tested
if (NO_BROWSER !== null) console.warn(`Tests of the console are skipped: ${NO_BROWSER}`)

export interface OpenConsole {
  readonly page: Page
  readonly context: BrowserContext
  /** Goes to a path of the console and waits until its first requests are answered. */
  readonly goto: (path: string) => Promise<void>
  /** Closes the page. Fails if a script threw, or if the policy of the page blocked something. */
  readonly close: () => Promise<void>
}

export interface OpenConsoleOptions {
  /** The key to sign in with, by the API. Null: nobody signs in. */
  readonly key?: string | null
  readonly width?: number
  readonly height?: number
  readonly theme?: 'light' | 'dark'
  /** The language of the browser, which need not be a correct tag. */
  readonly language?: string
  /** Messages of the browser that the test provokes. */
  readonly expected?: RegExp
}

/** A browser beside many tests may take long for what never fails to come. */
const PATIENCE_MS = 90_000

/** Opens the console of a gateway in a browser of its own, signed in by default. */
export async function openConsole(
  { baseUrl, key: ownKey }: Pick<TestGateway, 'baseUrl' | 'key'>,
  options: OpenConsoleOptions = {},
): Promise<OpenConsole> {
  const { key = ownKey, width = 1440, height = 900, theme = 'light', language, expected } = options
  const context = await (
    await launch()
  ).newContext({
    baseURL: baseUrl,
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
    isMobile: width < 600,
    hasTouch: width < 600,
    timezoneId: 'Europe/Zurich',
    locale: 'en-GB',
  })
  context.setDefaultTimeout(PATIENCE_MS)
  if (key !== null) {
    const answer = await context.request.post('/v1/sessions', { data: { api_key: key } })
    expect(answer.status()).toBe(201)
  }
  if (language !== undefined)
    await context.addInitScript(
      `Object.defineProperty(Navigator.prototype, 'language', { get: () => ${JSON.stringify(language)}, configurable: true })`,
    )
  const page = await context.newPage()
  const failures: string[] = []
  page.on('pageerror', (error) => failures.push(error.message))
  page.on('console', (message) => {
    // The browser reports every answer of 400 and above; tests look at what the page says about it.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      failures.push(message.text())
  })
  return {
    page,
    context,
    goto: async (path) => {
      await page.goto(path)
      await page.waitForLoadState('networkidle')
    },
    close: async () => {
      await context.close()
      expect(failures.filter((text) => expected?.test(text) !== true)).toEqual([])
    },
  }
}

let browser: Promise<Browser> | null = null

/** One browser for all tests of a process. */
function launch(): Promise<Browser> {
  if (found === null) throw new Error('there is no browser')
  const { executablePath, environment } = found
  browser ??= chromium.launch({
    executablePath,
    env: { ...definedOf(process.env), ...environment },
    // Tests run as root in containers, and load only pages of our own.
    args: [
      '--no-sandbox',
      '--headless=shell',
      '--disable-gpu',
      '--no-zygote',
      // A microphone that beeps.
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
    ],
  })
  return browser
}

function definedOf(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
