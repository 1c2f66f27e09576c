/**
 * Replaces the language of a browser that is no language tag, such as `en-US@posix`, because `Intl` throws on it. The library for charts
 * passes it there when it is loaded.
 */
export function correctLanguage(browser: Pick<Navigator, 'language'>): void {
  if (isLanguageTag(browser.language)) return
  const [language = ''] = browser.language.split(/[@.]/)
  const value = isLanguageTag(language) ? language : 'en'
  Object.defineProperty(browser, 'language', { value, configurable: true })
}

function isLanguageTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length > 0
  } catch {
    return false
  }
}
