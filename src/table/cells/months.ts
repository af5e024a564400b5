/** Months by their names and short names, lower case, from 1. */
export const MONTHS: ReadonlyMap<string, number> = new Map(
  [
    'january jan januar jän jänner janvier janv enero ene gennaio gen janeiro januari января',
    'february feb februar février févr fév febrero febbraio fevereiro februari февраля',
    'march mar märz mär mrz mars marzo março maart марта',
    'april apr avril avr abril abr aprile апреля',
    'may mai mayo maggio mag maio mei maj мая',
    'june jun juni juin junio giugno giu junho июня',
    'july jul juli juillet juil julio luglio lug julho июля',
    'august aug août aoû agosto ago augustus augusti августа',
    'september sep sept septembre septiembre settembre set setembro сентября',
    'october oct oktober okt octobre octubre ottobre ott outubro out октября',
    'november nov novembre noviembre novembro ноября',
    'december dec dezember dez décembre déc diciembre dic dicembre dezembro декабря',
  ].flatMap((names, month) => names.split(' ').map((name) => [name, month + 1] as const)),
);
