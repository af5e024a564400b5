/* What the dialogs of the tabular nodes share. What a file needs stands before it. */
import './dialog';
import './validators';
import './picker';
import './column-types';
import './suggestions';
import './vary';
import './editor';
