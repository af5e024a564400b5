/* The script of the sidebar Models, and what else it adds to the editor. */
import './sidebar';
import './statuses';
import './add-forecast';
