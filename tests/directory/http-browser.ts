/** As much of a browser as a sign-in needs: it keeps cookies of hosts, and follows redirects to other sites. */
export interface HttpBrowser {
  readonly cookies: Map<string, string>
  /** Follows redirects until a page, or until `isEnd` says so of the address that is next. */
  visit(url: string, options?: Visit): Promise<Visited>
}

interface Visit {
  readonly form?: Record<string, string>
  readonly headers?: Record<string, string>
  readonly isEnd?: (url: URL) => boolean
}

interface Visited {
  readonly url: URL
  /** Null if the page was not asked for. */
  readonly status: number | null
  readonly text: string
  readonly headers: Headers
}

const REDIRECTS_MAX = 15

export function createHttpBrowser(): HttpBrowser {
  const cookies = new Map<string, string>()
  return {
    cookies,
    visit: async (address, { form, headers = {}, isEnd = () => false } = {}) => {
      let url = new URL(address)
      let body = form === undefined ? null : new URLSearchParams(form)
      for (let redirects = 0; redirects < REDIRECTS_MAX; redirects += 1) {
        const sent = [...cookies]
          .filter(([, value]) => value !== '')
          .map(([name, value]) => `${name}=${value}`)
        const response = await fetch(url, {
          method: body === null ? 'GET' : 'POST',
          redirect: 'manual',
          headers: { cookie: sent.join('; '), ...headers },
          ...(body === null ? {} : { body }),
        })
        for (const cookie of response.headers.getSetCookie()) {
          const [pair = ''] = cookie.split(';', 1)
          const end = pair.indexOf('=')
          const isOver = /max-age=0|expires=Thu, 01 Jan 1970/i.test(cookie)
          cookies.set(pair.slice(0, end), isOver ? '' : pair.slice(end + 1))
        }
        const location = response.headers.get('location')
        if (location === null || response.status < 300 || response.status > 399)
          return { url, status: response.status, text: await response.text(), headers: response.headers }
        await response.body?.cancel()
        url = new URL(location, url)
        body = null
        if (isEnd(url)) return { url, status: null, text: '', headers: response.headers }
      }
      throw new Error(`more than ${REDIRECTS_MAX} redirects`)
    },
  }
}
