import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGpuGateway } from '../deployments/deploy.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'

/** Fills in a form up to its last button. */
type Prepare = (page: Page) => Promise<void>

const chooseModels = async (page: Page): Promise<void> => {
  await page.getByLabel('Model 1', { exact: true }).last().selectOption('gpt-4o-mini')
  await page.getByLabel('Model 2', { exact: true }).last().selectOption('gpt-5.4')
}

const FORMS: readonly (readonly [string, string, Prepare])[] = [
  ['/', 'Make a key', async () => {}],
  [
    '/keys',
    'Make the key',
    async (page) => {
      await page.getByRole('button', { name: 'New key' }).click()
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Once')
    },
  ],
  ['/billing', 'Go to checkout', async () => {}],
  ['/billing', 'Redeem', (page) => page.getByRole('textbox', { name: 'Code' }).fill('ONCE')],
  ['/playground?model=gpt-5.6', 'Send', (page) => page.getByLabel('Message').fill('Once')],
  ['/playground?kind=image', 'Make the picture', (page) => page.getByLabel('Prompt').fill('Once')],
  [
    '/compare',
    'Ask all',
    async (page) => {
      await chooseModels(page)
      await page.getByLabel('Prompt').fill('Once')
    },
  ],
  [
    '/compare?tab=runs',
    'Start the run',
    async (page) => {
      await page.getByRole('button', { name: 'New run' }).click()
      await chooseModels(page)
      await page.getByLabel('One prompt a line').fill('Once')
    },
  ],
  [
    '/accounts',
    'Make the account',
    async (page) => {
      await page.getByRole('button', { name: 'New account' }).click()
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Once')
    },
  ],
  [
    '/promo-codes',
    'Make the code',
    async (page) => {
      await page.getByRole('button', { name: 'New code' }).first().click()
      await page.getByRole('textbox', { name: 'Code', exact: true }).fill('ONCE')
      await page.getByLabel('Credit in USD').fill('3')
    },
  ],
]

describe.skipIf(NO_BROWSER !== null)('a double click', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGpuGateway()
  })
  afterAll(() => gateway.close())

  /** Holds back what the page sends, until it is let through. */
  async function holdPosts(page: Page): Promise<{ readonly held: Route[] }> {
    const held: Route[] = []
    await page.route('**/v1/**', (route) => {
      if (route.request().method() === 'GET') return route.continue()
      held.push(route)
      return undefined
    })
    return { held }
  }

  test.each(FORMS)('on %s, %s, sends one request', async (path, name, prepare) => {
    const { page, goto, close } = await openConsole(gateway)
    await goto(path)
    await prepare(page)
    const { held } = await holdPosts(page)
    const button = page.getByRole('button', { name, exact: true }).last()
    const place = await button.boundingBox()
    if (place === null) throw new Error('the button is not shown')
    // With the mouse, because a button that is busy is no longer the same for a locator.
    await page.mouse.dblclick(place.x + place.width / 2, place.y + place.height / 2)
    await expect.poll(() => held.length).toBe(1)
    // A request of the second click would have been sent before this one.
    await page.evaluate("fetch('/healthz').then(() => null)")
    expect(held.map((route) => new URL(route.request().url()).pathname)).toHaveLength(1)
    await Promise.all(held.map((route) => route.abort()))
    await close()
  })
})
