/** How many days back use counts. */
export const USE_DAYS = [7, 30, 90] as const
export type UseDays = (typeof USE_DAYS)[number]
