/** Months by their names and short names, lower case, from 1. */
export const MONTHS: ReadonlyMap<string, number> = new Map(
  [
    'january jan januar jän jänner janvier janv enero ene gennaio gen',
    'february feb februar février févr fév febrero febbraio',
    'march mar märz mär mrz mars marzo',
    'april apr avril avr abril abr aprile',
    'may mai mayo maggio mag',
    'june jun juni juin junio giugno giu',
    'july jul juli juillet juil julio luglio lug',
    'august aug août aoû agosto ago',
    'september sep sept septembre septiembre settembre set',
    'october oct oktober okt octobre octubre ottobre ott',
    'november nov novembre noviembre',
    'december dec dezember dez décembre déc diciembre dic dicembre',
  ].flatMap((names, month) => names.split(' ').map((name) => [name, month + 1] as const)),
);
