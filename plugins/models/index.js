/* The script of the sidebar Models. What a file needs stands before it. */
import './dom';
import './pictures';
import './costs';
import './threshold';
import './list';
import './model';
import './changes';
import './machines';
import './live';
import './advise';
import './try';
import './actions';
import './sidebar';
import './statuses';
import './add-forecast';
