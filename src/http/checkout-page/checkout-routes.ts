import { Type } from 'typebox'
import { toTimestamp } from '../../kernel/clock.ts'
import { formatUsd, type NanoUsd } from '../../kernel/money.ts'
import type { Billing, HostedCheckout, Payment } from '../../modules/billing/billing.ts'
import { NO_KEY } from '../access.ts'
import { defineRoute, type Route } from '../route.ts'
import { answerPage } from './answer-page.ts'
import { savedPage } from './card-routes.ts'
import { pageHeaders, type CheckoutPage } from './render-page.ts'

const TokenParams = Type.Object({
  token: Type.String({ maxLength: 100, description: 'The secret of the page.' }),
})
const ReturnParams = Type.Object({
  provider: Type.String({ maxLength: 50, description: 'The name of a payment provider.' }),
})
const ReturnQuery = Type.Object({
  session_id: Type.String({ minLength: 1, maxLength: 300, description: 'The session that was paid.' }),
})

const FORM_BYTES_MAX = 1024

/**
 * Pages for payers: the test checkout, and the pages to which a payment provider redirects. They need no key, because their URL
 * is secret.
 */
export const checkoutRoutes = ({ billing }: { billing: Billing }): Route[] => {
  const shared = { tag: 'Payments', access: NO_KEY } as const
  const page = (description: string) => ({ description, schema: Type.String(), contentType: 'text/html' })
  const form = { takesRawBody: true, bodyLimitBytes: FORM_BYTES_MAX, params: TokenParams } as const
  const refusals = {
    404: page('There is no such checkout, or no longer.'),
    409: page('The checkout is not in a state that allows this.'),
    503: page('Nothing can be paid at the moment.'),
  }
  const onward = { 303: { description: 'To `success_url`, `cancel_url` or back to the page.' }, ...refusals }

  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/checkout/test/:token',
      summary: 'The page of a test checkout',
      params: TokenParams,
      responses: { 200: page('A page to pay at in test mode.'), ...refusals },
      handle: ({ params, reply }) =>
        answerPage(reply, async () => {
          const checkout = await billing.readHosted(params.token)
          const headers = pageHeaders({ formTargets: [checkout.successUrl, checkout.cancelUrl] })
          return { headers, page: hostedPage(checkout, params.token) }
        }),
    }),
    defineRoute({
      ...shared,
      ...form,
      method: 'POST',
      path: '/checkout/test/:token/pay',
      summary: 'Pay a test checkout',
      responses: onward,
      handle: ({ params, reply }) =>
        answerPage(reply, async () => {
          const { successUrl } = await billing.payHosted(params.token)
          return { location: successUrl ?? `/checkout/test/${params.token}` }
        }),
    }),
    defineRoute({
      ...shared,
      ...form,
      method: 'POST',
      path: '/checkout/test/:token/cancel',
      summary: 'Cancel a test checkout',
      responses: onward,
      handle: ({ params, reply }) =>
        answerPage(reply, async () => {
          const { cancelUrl, state } = await billing.cancelHosted(params.token)
          const isCancelled = state === 'cancelled' && cancelUrl !== null
          return { location: isCancelled ? cancelUrl : `/checkout/test/${params.token}` }
        }),
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/checkout/:provider/return',
      summary: 'Where a payment provider sends people back to',
      params: ReturnParams,
      query: ReturnQuery,
      responses: {
        200: page('How the payment went, or whether a card was saved. What was paid is credited by now.'),
        ...refusals,
      },
      handle: ({ params, query, reply }) =>
        answerPage(reply, async () => {
          const returned = await billing.completeReturn(params.provider, query.session_id)
          const page = 'payment' in returned ? returnPage(returned.payment) : savedPage(returned.cardState)
          return { headers: pageHeaders(), page }
        }),
    }),
  ]
}

function hostedPage(checkout: HostedCheckout, token: string): CheckoutPage {
  const { payment, state, successUrl, cancelUrl, expiresAtMs } = checkout
  const amount = showUsd(payment.amountNanoUsd)
  switch (state) {
    case 'open':
      return {
        title: 'Add prepaid credit',
        amount,
        tone: 'open',
        lines: [
          'Test mode: no money moves.',
          `This page is good until ${toTimestamp(expiresAtMs).slice(11, 16)} UTC.`,
        ],
        actions: [
          { path: `/checkout/test/${token}/pay`, label: `Pay ${amount}`, isMain: true },
          { path: `/checkout/test/${token}/cancel`, label: 'Cancel', isMain: false },
        ],
      }
    case 'paid':
      return { ...returnPage(payment), ...onwardLink(successUrl) }
    case 'cancelled':
      return {
        title: 'Payment cancelled',
        tone: 'bad',
        lines: ['Nothing was paid and no credit was added.'],
        ...onwardLink(cancelUrl),
      }
    case 'expired':
      return {
        title: 'This page has expired',
        tone: 'bad',
        lines: ['Nothing was paid. Start a new checkout to add credit.'],
        ...onwardLink(cancelUrl),
      }
  }
}

function onwardLink(href: string | null): Pick<CheckoutPage, 'link'> {
  return href === null ? {} : { link: { href, label: 'Continue' } }
}

function returnPage({ amountNanoUsd, status, completedAtMs }: Payment): CheckoutPage {
  const amount = showUsd(amountNanoUsd)
  if (completedAtMs !== null) {
    return { title: 'Payment received', amount, tone: 'good', lines: ['The credit is on the account.'] }
  }
  if (status === 'pending' || status === 'processing') {
    return {
      title: 'Payment on its way',
      amount,
      tone: 'open',
      lines: ['The credit is added as soon as the payment is confirmed.'],
    }
  }
  return { title: 'Payment not made', tone: 'bad', lines: ['Nothing was paid and no credit was added.'] }
}

function showUsd(amount: NanoUsd): string {
  const [whole = '0', fraction = ''] = formatUsd(amount).split('.')
  return `$${whole}.${fraction.padEnd(2, '0')}`
}
