import { Type } from 'typebox'
import { toTimestamp } from '../../kernel/clock.ts'
import type { AutoTopUps, HostedSetup } from '../../modules/billing/billing.ts'
import { NO_KEY } from '../access.ts'
import { defineRoute, type Route } from '../route.ts'
import { answerPage } from './answer-page.ts'
import { pageHeaders, type CheckoutPage } from './render-page.ts'

const TokenParams = Type.Object({
  token: Type.String({ maxLength: 100, description: 'The secret of the page.' }),
})
const SaveParams = Type.Object({
  ...TokenParams.properties,
  last4: Type.Enum(['4242', '0341'], {
    description: 'The test card: `4242` is charged, `0341` is declined.',
  }),
})

const FORM_BYTES_MAX = 1024

/** The page where a test card is saved. It needs no key, because its URL is secret. */
export const cardRoutes = ({ autoTopUps }: { autoTopUps: AutoTopUps }): Route[] => {
  const shared = { tag: 'Payments', access: NO_KEY } as const
  const page = (description: string) => ({ description, schema: Type.String(), contentType: 'text/html' })
  const refusals = {
    404: page('There is no such page, or no longer.'),
    409: page('The page has expired.'),
    503: page('No card can be saved at the moment.'),
  }
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/checkout/test-card/:token',
      summary: 'The page to save a test card at',
      params: TokenParams,
      responses: { 200: page('A page to save a card at in test mode.'), ...refusals },
      handle: ({ params, reply }) =>
        answerPage(reply, async () => {
          const setup = await autoTopUps.readHosted(params.token)
          const headers = pageHeaders({ formTargets: [setup.successUrl, setup.cancelUrl] })
          return { headers, page: setupPage(setup, params.token) }
        }),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/checkout/test-card/:token/save/:last4',
      summary: 'Save a test card',
      params: SaveParams,
      takesRawBody: true,
      bodyLimitBytes: FORM_BYTES_MAX,
      responses: { 303: { description: 'To `success_url` or back to the page.' }, ...refusals },
      handle: ({ params, reply }) =>
        answerPage(reply, async () => {
          const { successUrl } = await autoTopUps.saveHosted(params.token, params.last4)
          return { location: successUrl ?? `/checkout/test-card/${params.token}` }
        }),
    }),
  ]
}

/** What a person reads who comes back from saving a card. */
export function savedPage(state: HostedSetup['state']): CheckoutPage {
  if (state === 'saved')
    return {
      title: 'Card saved',
      tone: 'good',
      lines: ['It is charged only by the automatic top-up, once that is switched on.'],
    }
  if (state === 'open')
    return {
      title: 'Card not saved yet',
      tone: 'open',
      lines: ['The payment provider has not confirmed it.'],
    }
  return { title: 'This page has expired', tone: 'bad', lines: ['No card was saved. Begin again.'] }
}

function setupPage({ state, successUrl, cancelUrl, expiresAtMs }: HostedSetup, token: string): CheckoutPage {
  const href = state === 'saved' ? successUrl : cancelUrl
  const link = href === null ? {} : { link: { href, label: state === 'open' ? 'Cancel' : 'Continue' } }
  if (state !== 'open') return { ...savedPage(state), ...link }
  const path = `/checkout/test-card/${token}/save`
  return {
    title: 'Save a card',
    tone: 'open',
    lines: [
      'Test mode: no money moves, and no real card is asked for.',
      `This page is good until ${toTimestamp(expiresAtMs).slice(11, 16)} UTC.`,
    ],
    actions: [
      { path: `${path}/4242`, label: 'Save the test card 4242', isMain: true },
      { path: `${path}/0341`, label: 'Save a card that is declined (0341)', isMain: false },
    ],
    ...link,
  }
}
