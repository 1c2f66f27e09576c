import defaultSource from '../../src/modules/catalog/catalog.json' with { type: 'json' }

/** A day on which every model of the catalog is still sold. */
export const BEFORE_ENDS_MS = Date.parse('2026-11-18')

/** The built-in models without the days on which their vendors end them, so that no test fails from such a day on. */
export const LASTING_CATALOG = {
  ...defaultSource,
  models: defaultSource.models.map((entry) => {
    const ends: Readonly<Record<string, unknown>> = entry
    return {
      ...ends,
      ...(ends['shutdown_at'] === undefined ? {} : { shutdown_at: '9999-12-31' }),
      ...(ends['retires'] === undefined ? {} : { retires: '9999-12-31' }),
    }
  }),
}
